"""Generate floor plans with trained networks: noise becomes corners, walls join corners, walls form rooms.

With no option, it draws 64 plans with the newest run of each stage. It writes plans.npz, pictures and
metrics.json.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # the folder of examples/ and snippets/
try:
    from examples.programs import imports

    imports.prepare(__file__)
except ModuleNotFoundError:
    print(f"error: {__file__} needs examples/ and snippets/, as in the handbook; copy both", file=sys.stderr)
    sys.exit(2)

import shlex
import time
from contextlib import ExitStack
from typing import Any

import torch
from tqdm import tqdm

from examples.floorplan_diffusion.data_sources import load_test
from examples.floorplan_diffusion.diffusion import Schedule
from examples.floorplan_diffusion.generate_files import write_plan_files
from examples.floorplan_diffusion.generate_job import Job, open_job
from examples.floorplan_diffusion.generate_options import SNAP, read_command_line
from examples.floorplan_diffusion.joined_corners import join_corners
from examples.floorplan_diffusion.packed_networks import BUNDLED
from examples.floorplan_diffusion.plan_figures import describe_plans, metrics_table
from examples.floorplan_diffusion.plans import Plan
from examples.floorplan_diffusion.sampled_corners import (
    Batch,
    Stopped,
    corners_of,
    load_batch,
    sample_batch,
    save_batch,
)
from examples.floorplan_diffusion.snapping import snapped
from examples.programs.failures import explained_failures
from examples.programs.report import provenance
from examples.programs.run_folder import finite_or_none
from snippets.atomic_write import remove_leftovers, replace_json
from snippets.device import pick_device
from snippets.errors import RunError, UsageError, exit_with_one_line, tell
from snippets.stop_signals import StopSignals

MOST_COMPARED = 4_000  # generated plans, a tenth of which are the test plans
OUTPUT = "straighten", "formats", "pixels_per_metre"  # options of the files alone
WRITTEN = "gallery.png", "steps.png", "plans.npz", "metrics.json"  # the files to print, the most useful first


def sample_all(job: Job, device: torch.device, folder: Path) -> tuple[list[Batch], int]:
    """Return all batches, and the number of newly drawn plans; the others come from files. Raises Stopped."""
    options, places = job.options, job.nodes.places
    network, schedule = job.nodes.network.to(device), Schedule(device)
    (folder / "batches").mkdir(exist_ok=True)
    for place in (folder, folder / "batches", folder / "plans"):
        remove_leftovers(place)
    batches, new = [], 0
    bar = tqdm(total=options.count, unit="plan", disable=None, leave=False, file=sys.stdout)
    with StopSignals() as stop, bar:
        for index, start in enumerate(range(0, options.count, options.batch_size)):
            shape = min(options.batch_size, options.count - start), places
            path = folder / "batches" / f"{index:04d}.npz"
            batch = load_batch(path, shape)
            if batch is None:
                seed = options.seed, index
                batch = sample_batch(
                    network, schedule, shape, seed, steps=options.steps, eta=options.eta, stop=stop
                )
                save_batch(path, batch)
                new += shape[0]
            batches.append(batch)
            bar.update(shape[0])
    return batches, new


def drawn_corners(job: Job, batches: list[Batch]) -> list[Plan]:
    """Return the plans of all batches that have a corner, without walls. Raises RunError when none has."""
    plans = [corners_of(nodes, job.options.threshold) for batch in batches for nodes in batch.nodes]
    plans = [plan for plan in plans if len(plan.corners)]
    if not plans:
        raise RunError("none of the plans has a corner; train stage 1 longer, or raise --threshold")
    return plans


def with_walls(job: Job, corners: list[Plan], snap: float, device: torch.device) -> list[Plan]:
    """Return the plans with their corners on common lines, up to `snap` pixels apart, and with walls."""
    plans = [snapped(plan, snap) for plan in corners] if snap else corners
    return join_corners(job.edges.network.to(device), plans, device, min(64, job.options.batch_size))


def real_plans(job: Job) -> tuple[list[Plan], str | None]:
    """Return real plans for comparison, and a note when the data of stage 1 are missing."""
    options = job.nodes.options
    try:
        return list(load_test(options.data, min(options.plans, MOST_COMPARED), options.seed)), None
    except UsageError as error:
        return [], f"nothing to compare with: {error}"


def draw(job: Job, device: torch.device, folder: Path, typed: dict[str, Any]) -> list[str]:
    """Draw plans, write all files to `folder`, and return a report. Raises Stopped, RunError and OSError.

    `typed` has the options of the output, which may differ when a stopped run goes on.
    """
    began = time.monotonic()
    batches, new = sample_all(job, device, folder)
    seconds = time.monotonic() - began
    corners = drawn_corners(job, batches)
    plans = with_walls(job, corners, typed.get("snap", SNAP), device)
    real, note = real_plans(job)
    output = {name: typed[name] for name in OUTPUT if name in typed}
    write_plan_files(folder, plans, batches[0], job.options.threshold, **output)
    found = describe_plans(plans, real, corners)
    numbers = {part: {k: finite_or_none(value) for k, value in row.items()} for part, row in found.items()}
    sampled = {"sampled": new, "seconds": round(seconds, 2)}  # in this process
    report = job.config | sampled | numbers | {"provenance": provenance()}
    replace_json(folder / "metrics.json", report)
    replace_json(folder / "heartbeat.json", {"status": "finished"})  # so that --resume auto skips it
    missing = job.options.count - len(plans)
    empty = f"plans without a corner, which are left out: {missing}" if missing else None
    return [
        *metrics_table(found),
        *(f"note       {line}" for line in (empty, note) if line),
        f"sampled    {new} plans in {seconds:.1f} s",
        *(f"written    {folder / name}" for name in written(typed.get("formats", ()))),
    ]


def written(formats: Sequence[str]) -> Sequence[str]:
    """Return the names to print."""
    return [
        *WRITTEN,
        *(["plans.json"] if "json" in formats else []),
        *(["plans/0000.dxf …"] if "dxf" in formats else []),
    ]


def main(argv: Sequence[str] | None = None) -> int:
    """Draw the plans of the command line and return the exit code. Raises UsageError and RunError."""
    typed = read_command_line(argv)
    with ExitStack() as opened:
        return generate(typed, *open_job(typed, opened))


def generate(typed: dict[str, Any], job: Job, folder: Path, notes: list[str]) -> int:
    """Run the job in its locked folder; return the exit code. Raises UsageError and RunError."""
    device, reason = pick_device(typed.get("device", "auto"))
    options = job.options
    for number, trained in ((1, job.nodes), (2, job.edges)):
        name = BUNDLED.name if trained.checkpoint == BUNDLED else trained.checkpoint
        tell(f"stage {number}    {name}, step {trained.content['step']:,}")
    print(f"device     {device} ({reason})")
    print(
        f"sampling   {options.count} plans, {options.sampler} with {options.steps} steps, seed {options.seed}"
    )
    for line in filter(None, (job.nodes.note, job.edges.note, *notes)):
        tell(f"note       {line}")
    again = shlex.join(["python", sys.argv[0], "--resume", str(folder)])
    try:
        with explained_failures(f"out of memory; lower --batch-size (it is {options.batch_size})"):
            lines = draw(job, device, folder, typed)
    except Stopped as stopped:
        print(f"stopped by {stopped.signal.name}; finished batches are kept. To go on: {again}")
        return 128 + stopped.signal
    except OSError as error:
        cause = f"cannot write to {folder}: {error.strerror or error}"
        raise RunError(f"{cause}; remove the cause, then go on: {again}") from None
    print(*lines, sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(exit_with_one_line(main))
