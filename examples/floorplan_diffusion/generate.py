"""Draw floor plans with trained networks: noise becomes corners, corners get walls, walls make rooms.

With no option: 64 plans of the newest run of each stage. Writes plans.npz, pictures and metrics.json.
"""

import sys
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # there lie examples/ and snippets/
try:
    from snippets.framework import startup

    startup.prepare(__file__)
except ModuleNotFoundError:
    print(f"error: {__file__} needs examples/ and snippets/, as in the handbook; copy both", file=sys.stderr)
    sys.exit(2)

import argparse
import shlex
import time

import torch
from tqdm import tqdm

from examples.floorplan_diffusion.data_sources import load_splits
from examples.floorplan_diffusion.diffusion import STEPS, Schedule
from examples.floorplan_diffusion.generated_files import (
    describe_plans,
    metrics_table,
    open_folder,
    write_results,
)
from examples.floorplan_diffusion.joined_corners import join_corners
from examples.floorplan_diffusion.sampled_corners import (
    Batch,
    Stopped,
    corners_of,
    load_batch,
    sample_batch,
    save_batch,
)
from examples.floorplan_diffusion.trained import EDGES, NODES, Trained, load_trained, weights_crc32
from snippets.device import pick_device
from snippets.framework.command_line import StrictParser, number, whole_number
from snippets.framework.device_failures import explained_failures
from snippets.framework.errors import RunError, UsageError, exit_with_one_line
from snippets.framework.provenance import provenance
from snippets.framework.user_paths import expanded
from snippets.stop_signals import StopSignals

FASTER = 50  # steps of the sampler that needs fewer


def read_command_line(argv: Sequence[str] | None) -> Namespace:
    """Return the options. Raises UsageError."""
    parser = StrictParser(prog="generate.py", description=__doc__.partition("\n")[0])
    add = parser.add_argument
    run = {"type": expanded, "metavar": "RUN|CHECKPOINT"}
    add("--nodes", **run, help=f"stage 1; the newest run in {NODES.runs}")
    add("--edges", **run, help=f"stage 2; the newest run in {EDGES.runs}")
    add("--count", type=whole_number(1, 10**6), default=64, help="plans to draw; 64")
    add("--batch-size", type=whole_number(1, 10**5), default=64, help="plans that are drawn at a time; 64")
    add("--sampler", choices=("ddpm", "ddim"), default="ddpm", help="ddim: few steps, no new noise; ddpm")
    add("--steps", type=whole_number(2, STEPS), help=f"of sampling; ddpm: {STEPS}, ddim: {FASTER}")
    add("--threshold", type=number(0, 1, above=True, below=True), default=0.5, help="below it, a corner; 0.5")
    straight = {"action": argparse.BooleanOptionalAction, "default": True}
    add("--straighten", **straight, help="draw walls that are nearly level or upright as such; on")
    add("--seed", type=whole_number(0, 2**32 - 1), default=0, help="of the noise; 0")
    devices = ("auto", "mps", "cuda", "cpu")
    add("--device", default="auto", choices=devices, help="auto: CUDA, then MPS, then CPU")
    add("--out", type=expanded, metavar="DIR", help="runs/floorplan_diffusion/generate/<time>")
    add("--resume", metavar="auto|DIR", help="go on with plans that were not finished")
    options = parser.parse_args(argv)
    options.steps = options.steps or (STEPS if options.sampler == "ddpm" else FASTER)
    return options


def decisive(options: Namespace, nodes: Trained, edges: Trained) -> dict[str, Any]:
    """Return what decides which plans come out: equal values, equal plans."""
    names = "count", "batch_size", "sampler", "steps", "threshold", "straighten", "seed"
    networks = {"nodes_crc32": weights_crc32(nodes.network), "edges_crc32": weights_crc32(edges.network)}
    return {name: getattr(options, name) for name in names} | networks


def sample_all(options: Namespace, nodes: Trained, device: torch.device, folder: Path) -> list[Batch]:
    """Return all batches, those that an earlier run has finished from its files. Raises Stopped."""
    network, schedule = nodes.network.to(device), Schedule(device)
    eta = 1.0 if options.sampler == "ddpm" else 0.0
    batches = []
    starts = range(0, options.count, options.batch_size)
    bar = tqdm(total=options.count, unit="plan", disable=None, leave=False, file=sys.stdout)
    with StopSignals() as stop, bar:
        for index, start in enumerate(starts):
            shape = min(options.batch_size, options.count - start), nodes.places
            path = folder / "batches" / f"{index:04d}.npz"
            batch = load_batch(path, shape)
            if batch is None:
                seed = options.seed, index
                batch = sample_batch(network, schedule, shape, seed, steps=options.steps, eta=eta, stop=stop)
                save_batch(path, batch)
            batches.append(batch)
            bar.update(shape[0])
    return batches


def main(argv: Sequence[str] | None = None) -> int:
    """Draw plans as the command line says and return the exit code. Raises UsageError and RunError."""
    options = read_command_line(argv)
    device, reason = pick_device(options.device)
    nodes, edges = load_trained(NODES, options.nodes), load_trained(EDGES, options.edges)
    splits = load_splits(nodes.options.data, nodes.options.plans, nodes.options.seed)
    folder, note = open_folder(options.out, options.resume, decisive(options, nodes, edges))
    print(f"stage 1    {nodes.checkpoint}, step {nodes.content['step']:,}")
    print(f"stage 2    {edges.checkpoint}, step {edges.content['step']:,}")
    print(f"device     {device} ({reason})")
    print(
        f"sampling   {options.count} plans, {options.sampler} with {options.steps} steps, seed {options.seed}"
    )
    for line in filter(None, (nodes.note, edges.note, note)):
        print(f"note       {line}")
    began = time.monotonic()
    try:
        with explained_failures(f"out of memory; lower --batch-size (it is {options.batch_size})"):
            batches = sample_all(options, nodes, device, folder)
            bare = [corners_of(one, options.threshold) for batch in batches for one in batch.nodes]
            seconds = time.monotonic() - began
            plans = join_corners(
                edges.network.to(device), [plan for plan in bare if len(plan.corners)], device
            )
    except Stopped:
        again = shlex.join(["python", sys.argv[0], "--resume", str(folder)])
        print(f"stopped; finished batches are kept. To go on, with the same options: {again}")
        return 130
    except OSError as error:
        raise RunError(f"cannot write to {folder}: {error.strerror}; choose another --out") from None
    if not plans:
        raise UsageError("none of the plans has a corner; train stage 1 longer, or raise --threshold")
    results = describe_plans(plans, list(splits.test))
    report = {"options": decisive(options, nodes, edges), "seconds": round(seconds, 2), **results}
    report |= {"nodes": str(nodes.checkpoint), "edges": str(edges.checkpoint), "provenance": provenance()}
    files = write_results(folder, plans, batches[0], options, report)
    print(*metrics_table(results), sep="\n")
    if len(plans) < options.count:
        print(f"note       {options.count - len(plans)} plans have no corner and are left out")
    print(f"sampled    in {seconds:.1f} s")
    print(*(f"written    {file}" for file in files), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(exit_with_one_line(main))
