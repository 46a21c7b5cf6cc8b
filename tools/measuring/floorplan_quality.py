"""Measure drawn floor plans and the time of each sampler: docs/data/results/floorplan_quality.yaml.

    python -m tools.measuring.floorplan_quality --nodes RUN --edges RUN [--name default] [--count 256]
    python -m tools.measuring.floorplan_quality --ablation --edges RUN [--seeds 0 1]

The first form draws plans with two trained runs and each sampler, as generate.py does. The second one trains
stage 1 with the defaults and without each of the three options that make lines appear, draws plans with
each network, and writes docs/data/results/floorplan_ablation.yaml. `--out` names another file.

Of the plans:

in_line              share of the corners that have another one above or below and another one beside them, at
                     most a pixel off
line_mean            how far a corner is off, pixels, on average; line_median is the median
closed               share of plans that are rooms and nothing else; closed_straightened: once their walls
                     are drawn level or upright
corners, rooms       of a plan, on average
room_distance        between the room counts of these plans and those of the test plans
seconds              of a batch, corners only; the first, short batch does not count

`data` are the test plans, and `random` the same number of corners at places drawn evenly. The entry with this
name, device and machine is replaced, others stay.
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy
import torch

from examples.floorplan_diffusion.data_sources import load_splits
from examples.floorplan_diffusion.diffusion import Schedule
from examples.floorplan_diffusion.joined_corners import join_corners
from examples.floorplan_diffusion.metrics import (
    closed_share,
    histogram_distance,
    line_distances,
    mean_corners,
    room_histograms,
)
from examples.floorplan_diffusion.plans import Plan
from examples.floorplan_diffusion.rooms import straightened
from examples.floorplan_diffusion.sampled_corners import Batch, corners_of, sample_batch
from examples.floorplan_diffusion.trained import EDGES, NODES, Trained, load_trained
from snippets.device import pick_device
from snippets.errors import exit_with_one_line
from snippets.stop_signals import StopSignals
from snippets.timing import spread, time_once
from tools.measuring.result_entries import RESULTS, origin, rounded, store

ROOT = Path(__file__).resolve().parents[2]
DATA, ABLATION_DATA = RESULTS / "floorplan_quality.yaml", RESULTS / "floorplan_ablation.yaml"
MODULE = "python -m tools.measuring.floorplan_quality"
DDPM, DDIM = (1000, 250, 100, 50, 25), (250, 100, 50, 25)  # steps
SAMPLERS = (*(("ddpm", steps) for steps in DDPM), *(("ddim", steps) for steps in DDIM))
UNIFORM, EQUAL, ADAMW = ["--focus", "1"], ["--place-weight", "1"], ["--optimizer", "adamw"]
SLOWER = ["--lr", "1e-3"]  # AdamW may need another learning rate than Muon: it is tried with both
ABLATION = {  # options of train_nodes.py beside its defaults
    "all": [],
    "no_focus": UNIFORM,
    "no_place_weight": EQUAL,
    "no_muon": ADAMW,
    "no_muon_slower": ADAMW + SLOWER,
    "none": UNIFORM + EQUAL + ADAMW,
    "none_slower": UNIFORM + EQUAL + ADAMW + SLOWER,
}
SMALL: list[str] = []  # options of every training of the ablation: none, so that it is the default one
ABLATION_STEPS = 1000  # of the sampling
IN_LINE = 1.0  # pixels
TIMEOUT = 1800  # seconds for a training

_HEADER = """\
# Measured by tools/measuring/floorplan_quality.py, which says what each value is. Seconds, pixels, shares.
"""


def trained_by(trained: Trained) -> dict[str, Any]:
    """Return what a run was and what it reached: the command without places of files, size, scores."""
    config, progress = trained.content["config"], trained.content["progress"]
    options = config["options"]
    names = "size", "width", "layers", "epochs", "batch_size", "plans"
    result = progress["result"]
    scores = {name: float(f"{value:.4g}") for name, value in result.items() if name != "train_loss"}
    return {
        "trained_by": training_command(config["system"], config["provenance"]["command"]),
        **{name: options[name] for name in names},
        "parameters": config["parameters"],
        "places": config["places"],
        "steps": trained.content["step"],
        "device": config["device"].partition(" ")[0],
        "precision": config["precision"].partition(" ")[0],
        "torch": config["provenance"]["torch"],
        "seconds": round(progress["seconds"], 1),
        **scores,
    }


def training_command(system: str, command: str) -> str:
    """Return the command of a run of `system` as a reader would type it: without folders of the machine."""
    words = shlex.split(command)
    place = next((index for index, word in enumerate(words, 1) if word.endswith(".py")), len(words))
    kept, arguments = [], iter(words[place:])
    for word in arguments:
        if word in ("--out", "--resume"):
            next(arguments, None)
        else:
            kept.append(word)
    return shlex.join(["python", f"examples/{system}.py", *kept])


def lines_of(plans: Sequence[Plan]) -> dict[str, float]:
    """Return how well the corners of plans stand in line."""
    apart = numpy.concatenate([numpy.zeros(0), *(line_distances(plan.corners) for plan in plans)])
    if not len(apart):
        return dict.fromkeys(("in_line", "line_mean", "line_median"), float("nan"))
    found = {
        "in_line": (apart <= IN_LINE).mean(),
        "line_mean": apart.mean(),
        "line_median": numpy.median(apart),
    }
    return {name: float(value) for name, value in found.items()}


def described(plans: list[Plan], real: list[Plan]) -> dict[str, float]:
    """Return the figures of plans, with the distance of their room counts to those of real ones."""
    rooms = [room_histograms(some)["total"] for some in (plans, real)]
    found = {
        "plans": len(plans),
        **lines_of(plans),
        "closed": closed_share(plans),
        "closed_straightened": closed_share([straightened(plan) for plan in plans]),
        "corners": mean_corners(plans),
        "rooms": float(rooms[0] @ numpy.arange(len(rooms[0]))),
        "room_distance": histogram_distance(*rooms),
    }
    return shortened(found)


def shortened(found: dict[str, float]) -> dict[str, float]:
    """Return figures with four decimals."""
    return {
        name: value if isinstance(value, int) else round(float(value), 4) for name, value in found.items()
    }


def scattered(plans: Sequence[Plan]) -> list[Plan]:
    """Return as many corners as each plan has, at places drawn evenly from the part that it needs."""
    generator = numpy.random.default_rng(0)
    return [
        replace(
            plan,
            corners=generator.uniform(plan.corners.min(0), plan.corners.max(0), plan.corners.shape).round(),
        )
        for plan in plans
    ]


def sampled(
    nodes: Trained, device: torch.device, sampler: str, steps: int, count: int, batch_size: int, seed: int
) -> tuple[list[Batch], list[float]]:
    """Return batches of corners and the seconds of each. The same seed gives the plans of generate.py."""
    network, schedule = nodes.network.to(device), Schedule(device)
    eta = 1.0 if sampler == "ddpm" else 0.0
    batches, seconds = [], []

    def draw(number: int, steps: int) -> None:
        shape = min(batch_size, count - number * batch_size), nodes.places
        batches.append(
            sample_batch(network, schedule, shape, (seed, number), steps=steps, eta=eta, stop=stop)
        )

    with StopSignals() as stop:
        draw(0, 10)  # warms up
        batches.clear()
        for number in range(-(-count // batch_size)):
            seconds.append(time_once(partial(draw, number, steps), device))
    return batches, seconds


def with_walls(batches: list[Batch], edges: Trained, device: torch.device) -> list[Plan]:
    """Return plans from corners, without those that have none."""
    bare = [corners_of(one) for batch in batches for one in batch.nodes]
    return join_corners(edges.network.to(device), [plan for plan in bare if len(plan.corners)], device)


def measure_samplers(options: argparse.Namespace, device: torch.device) -> dict[str, Any]:
    """Return the entry of two runs: what they are, and what each sampler draws in which time."""
    nodes, edges = load_trained(NODES, options.nodes), load_trained(EDGES, options.edges)
    test = list(load_splits(nodes.options.data, nodes.options.plans, nodes.options.seed).test)
    command = f"{MODULE} --name {options.name} --nodes RUN --edges RUN --count {options.count}"
    entry = {"name": options.name, "device": device.type, **origin(command)}
    entry |= {"nodes": trained_by(nodes), "edges": trained_by(edges)}
    entry |= {"count": options.count, "batch_size": options.batch_size, "seed": options.seed}
    entry["data"] = described(test, test)
    entry["random"] = shortened(lines_of(scattered(test)))
    entry["samplers"] = []
    for sampler, steps in SAMPLERS:
        arguments = options.count, options.batch_size, options.seed
        batches, seconds = sampled(nodes, device, sampler, steps, *arguments)
        plans = with_walls(batches, edges, device)
        row = {"sampler": sampler, "steps": steps, "seconds": rounded(spread(seconds))}
        entry["samplers"].append(row | described(plans, test))
        print(entry["samplers"][-1], flush=True)
    return entry


def train_nodes(more: list[str], seed: int, device: torch.device, folder: Path) -> Trained:
    """Return stage 1, trained in a new run in `folder`. Raises CalledProcessError."""
    program = ROOT / "examples" / "floorplan_diffusion" / "train_nodes.py"
    fixed = ["--seed", str(seed), "--device", device.type, "--out", str(folder)]
    subprocess.run(
        [sys.executable, program, *more, *fixed],
        cwd=ROOT,
        check=True,
        stdout=subprocess.DEVNULL,
        timeout=TIMEOUT,
    )
    return load_trained(NODES, folder)


def measure_ablation(options: argparse.Namespace, device: torch.device) -> dict[str, Any]:
    """Return the entry of this machine: a row for each choice of options, a list of figures over seeds."""
    edges = load_trained(EDGES, options.edges)
    seeds = " ".join(map(str, options.seeds))
    command = f"{MODULE} --ablation --edges RUN --seeds {seeds} --count {options.count}"
    entry = {"device": device.type, **origin(command)}
    entry |= {"seeds": options.seeds, "count": options.count, "edges": trained_by(edges), "rows": []}
    for name, arguments in ABLATION.items():
        found: dict[str, list[float]] = {}
        for seed in options.seeds:
            with tempfile.TemporaryDirectory(prefix="mps-handbook-") as folder:
                nodes = train_nodes([*SMALL, *arguments], seed, device, Path(folder, "run"))
            test = list(load_splits(nodes.options.data, nodes.options.plans, nodes.options.seed).test)
            batches, _ = sampled(nodes, device, "ddpm", ABLATION_STEPS, options.count, options.count, 0)
            run = trained_by(nodes)
            scores = {name: run[name] for name in ("val_loss", "val_place_loss", "seconds", "steps")}
            for key, value in (scores | described(with_walls(batches, edges, device), test)).items():
                found.setdefault(key, []).append(value)
        entry["rows"].append({"name": name, "options": arguments} | found)
        print(entry["rows"][-1], flush=True)
    return entry


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, print and store; return the exit code. Raises UsageError."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--ablation", action="store_true", help="train stage 1 with and without each of three options")
    add("--nodes", type=Path, help="run of stage 1; the newest")
    add("--edges", type=Path, help="run of stage 2; the newest")
    add("--name", default="default", help="of the runs in the file: default or quality")
    add("--count", type=int, default=256, help="plans to draw; 256")
    add("--batch-size", type=int, default=64, help="plans at a time; 64")
    add("--seed", type=int, default=0, help="of the noise; 0")
    add("--seeds", type=int, nargs="+", default=[0, 1], help="of the trainings of --ablation; 0 1")
    add("--device", default="auto", choices=("auto", "cpu", "mps", "cuda"))
    add("--out", type=Path, help="file; in docs/data/results")
    options = parser.parse_args(argv)
    device, _ = pick_device(options.device)
    same: tuple[str, ...]
    if options.ablation:
        entry, path, same = measure_ablation(options, device), ABLATION_DATA, ("device", "machine")
    else:
        entry, path, same = measure_samplers(options, device), DATA, ("name", "device", "machine")
    store(entry, options.out or path, _HEADER, same=same)
    return 0


if __name__ == "__main__":
    sys.exit(exit_with_one_line(main))
