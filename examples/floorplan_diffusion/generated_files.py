"""What generate.py leaves in its folder: the plans, their pictures and figures, and how to go on."""

from argparse import Namespace
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy

from examples.floorplan_diffusion.drawing import Corners, gallery
from examples.floorplan_diffusion.metrics import (
    axis_distance,
    closed_share,
    histogram_distance,
    mean_corners,
    room_histograms,
)
from examples.floorplan_diffusion.node_network import CHANNELS
from examples.floorplan_diffusion.plan_files import write_plans
from examples.floorplan_diffusion.plans import CANVAS, Plan, PlanSet
from examples.floorplan_diffusion.rooms import straightened
from examples.floorplan_diffusion.sampled_corners import Batch, real_corners
from snippets.atomic_write import replace_file, replace_json
from snippets.framework.errors import UsageError
from snippets.framework.run_folder import read_json
from snippets.framework.user_paths import expanded

RUNS = Path("runs/floorplan_diffusion/generate")
TASK = "generate.json"  # what is to be drawn, written first; metrics.json comes last
SHOWN = 12  # plans in the gallery
ROWS = {
    "axis_distance": ("distance to the nearest axis", "px", 2),
    "closed": ("closed plans", "%", 1),
    "closed_straightened": ("closed when straightened", "%", 1),
    "corners": ("corners per plan", "", 2),
    "rooms": ("rooms per plan", "", 2),
    "room_distance": ("distance of room counts", "", 2),
}


def open_folder(out: Path | None, resume: str | None, wanted: dict[str, Any]) -> tuple[Path, str | None]:
    """Return a folder for what is `wanted`, new or to go on with, and a note. Raises UsageError."""
    if resume == "auto":
        for folder in sorted(RUNS.glob("*"), reverse=True):
            if read_json(folder / TASK) == wanted and not (folder / "metrics.json").exists():
                return folder, f"going on in {folder}"
    elif resume is not None:
        folder = expanded(resume)
        task = read_json(folder / TASK)
        if task is None:
            raise UsageError(f"--resume {resume}: there is no {TASK} in it; name a folder of generate.py")
        for name, value in wanted.items():
            if task.get(name) != value:
                what = f"--{name.replace('_', '-')}" if not name.endswith("crc32") else name[:5]
                raise UsageError(
                    f"{what} is not what {folder} was begun with; use the same, or another --out"
                )
        return folder, f"going on in {folder}"
    stamp = datetime.now().strftime("%Y-%m-%d_%H-%M-%S")
    folder = out or RUNS / stamp
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"--out {folder} is not empty; go on there with --resume {folder}, or name another")
    try:
        (folder / "batches").mkdir(parents=True)
        replace_json(folder / TASK, wanted)
    except OSError as error:
        raise UsageError(f"cannot make {folder}: {error.strerror}; use --out") from None
    return folder, "no unfinished plans with these options: starting anew" if resume else None


def describe_plans(plans: list[Plan], real: list[Plan]) -> dict[str, dict[str, float]]:
    """Return figures of drawn plans and of real ones, with the distance between their room counts."""
    found = {"drawn": figures(plans), "data": figures(real)}
    histograms = [room_histograms(some)["total"] for some in (plans, real)]
    found["drawn"]["room_distance"] = histogram_distance(*histograms)
    return found


def figures(plans: list[Plan]) -> dict[str, float]:
    """Return what can be said of plans by themselves."""
    total = room_histograms(plans)["total"]
    return {
        "plans": len(plans),
        "axis_distance": axis_distance(plans),
        "closed": closed_share(plans),
        "closed_straightened": closed_share([straightened(plan) for plan in plans]),
        "corners": mean_corners(plans),
        "rooms": float(total @ numpy.arange(len(total))),
    }


def metrics_table(found: dict[str, dict[str, float]]) -> Iterator[str]:
    """Yield the lines of a table of figures."""
    yield " " * 36 + f"{'drawn':>9}{'data':>9}"
    for key, (name, unit, digits) in ROWS.items():
        factor = 100 if unit == "%" else 1
        cells = (
            f"{factor * found[part][key]:9.{digits}f}" if key in found[part] else " " * 9
            for part in ("drawn", "data")
        )
        yield f"{name + (f' ({unit})' if unit else ''):36}" + "".join(cells).rstrip()


def write_results(
    folder: Path, plans: list[Plan], first: Batch, options: Namespace, report: dict[str, Any]
) -> list[Path]:
    """Write plans, pictures and figures, the figures last; return the files that a user looks at first."""
    drawn = [straightened(plan) for plan in plans] if options.straighten else plans
    write_plans(folder / "plans.npz", PlanSet.of("drawn", "", plans))
    pictures = {
        "gallery": gallery(drawn[:SHOWN], columns=3, width=720),
        "steps": gallery(
            [*way(first, options.threshold), drawn[0]], columns=3, width=720, titles=titles(first)
        ),
    }
    for name, picture in pictures.items():
        write_text(folder / f"{name}.svg", picture.svg())
        replace_file(
            folder / f"{name}.png", lambda file, picture=picture: file.write(picture.png(background="white"))
        )
    (folder / "plans").mkdir(exist_ok=True)
    for index, plan in enumerate(drawn):
        write_text(folder / "plans" / f"{index:04d}.svg", gallery([plan], columns=1).svg())
    replace_json(folder / "metrics.json", report)
    return [folder / "gallery.png", folder / "steps.png", folder / "plans.npz", folder / "metrics.json"]


def write_text(path: Path, text: str) -> None:
    """Replace a file by a text."""
    replace_file(path, lambda file: file.write(text.encode()))


def way(batch: Batch, threshold: float) -> Iterable[Corners]:
    """Yield the corners of the first plan of a batch at some moments, from noise on."""
    for nodes in batch.way:
        yield Corners(
            (nodes[:, :2] + 1) * (CANVAS / 2), nodes[:, 2 : CHANNELS - 1] > 0, real_corners(nodes, threshold)
        )


def titles(batch: Batch) -> list[str]:
    """Return what stands above the moments of the way, and above the plan."""
    left = [f"{step} steps to go" if step else "corners" for step in batch.steps.tolist()]
    return [*left, "with walls"]
