"""Compare the speed of the guide's original settings with its optimised ones, in alternating steps.

    python examples/genomic_caduceus/verify.py                       generated sequences, a small network
    python examples/genomic_caduceus/verify.py --size origin         the network of the guide
    python examples/genomic_caduceus/verify.py --data FOLDER         a data set

original: 128 sequences per pass, float32. optimized: 64 per pass, two passes per step, bfloat16. Both start
from the same weights and use the same sequences. It writes mps_optimization_report.json.
"""

import argparse
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

from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

import torch

from examples.benchmarking.machine import machine
from examples.benchmarking.steps import Steps
from examples.genomic_caduceus.learning import network_line
from examples.genomic_caduceus.train import PROGRAM, Classification
from examples.programs.command_line import StrictParser, expanded, whole_number
from examples.programs.failures import explained_failures
from examples.programs.report import provenance
from examples.programs.run_folder import check_target, json_with
from snippets.atomic_write import replace_json
from snippets.device import synchronize
from snippets.errors import RunError, UsageError, exit_with_one_line, tell
from snippets.memory import MPS_STATISTICS_SINCE, peak_resident, read_memory
from snippets.timing import Spread, spread
from snippets.training_loop import endless_batches

SETTINGS = {
    "original": ["experiment=hg38/genomic_benchmark", "precision=fp32"],
    "optimized": ["experiment=hg38/mps_optimized_genomic_benchmark"],
}
SIZES = {"small": "small", "origin": "caduceus"}  # files in configs/model
WARM_UP = 3  # untimed steps
GENERATED = ["data=motif", "dataset.sequences=1280", "dataset.max_length=64"]
REPORT = Path("mps_optimization_report.json")


def read_command_line(argv: Sequence[str] | None) -> argparse.Namespace:
    """Return the options. Raises UsageError."""
    whole = argparse.RawDescriptionHelpFormatter
    parser = StrictParser(prog="verify.py", description=__doc__, formatter_class=whole)
    add = parser.add_argument
    add("--data", type=expanded, metavar="FOLDER", help="a data set, as in train.py; generated sequences")
    add("--reference", type=expanded, metavar="FILE", help="genome, where the data are places in one")
    add("--device", default="auto", choices=("auto", "mps", "cuda", "cpu"), help="auto: CUDA, then MPS")
    add("--size", default="small", choices=SIZES, help="of the network; small")
    add("--steps", type=whole_number(2, 10_000), default=20, help="that count, of either; 20")
    add("--json", type=expanded, default=REPORT, metavar="FILE", help=str(REPORT))
    options = parser.parse_args(argv)
    if options.reference and not options.data:
        raise UsageError("--reference is the genome of --data FOLDER; name that, too")
    ours = json_with("timestamp", "system_info", "settings", "results")
    check_target(options.json, ours, [".json"], option="--json")
    return options


def prepared(name: str, options: argparse.Namespace) -> Classification:
    """Return a training with the settings of this name, ready to train. Raises UsageError."""
    words = [
        *SETTINGS[name],
        f"model={SIZES[options.size]}",
        *([f"data={options.data}"] if options.data else GENERATED),
        f"device={options.device}",
        "epochs=100000",
        f"max_steps={WARM_UP + 1 + options.steps}",  # also the end of the learning-rate schedule
    ]
    if options.reference:
        words.append(f"dataset.reference={options.reference}")
    return PROGRAM.prepare(PROGRAM.read_command_line(words))


def in_turns(original: Steps, optimized: Steps, count: int) -> tuple[list[float], list[float]]:
    """Return the seconds of `count` alternating steps of each, waiting for the device after each step.

    A temporary slowdown thus affects both. Every second pair runs in the opposite order.
    """
    seconds: tuple[list[float], list[float]] = ([], [])
    for pair in range(count):
        for which in (0, 1) if pair % 2 == 0 else (1, 0):
            seconds[which].append((original, optimized)[which].timed(1))
    return seconds


def step_memory(steps: Steps) -> float | None:
    """Take a step; return the peak memory of its tensors above that before the step, in MB (10⁶ bytes).

    None where it is not counted: on the CPU, and on MPS before PyTorch 2.13.
    """
    device = steps.task.state.device
    synchronize(device)
    counted = device.type == "cuda" or (device.type == "mps" and torch.__version__ >= MPS_STATISTICS_SINCE)
    if counted:
        torch.accelerator.reset_peak_memory_stats()
    before = read_memory(device).tensors
    steps.timed(1)
    peak = read_memory(device).peak
    return None if peak is None or before is None else (peak - before) / 1e6


def finding(ratio: Spread) -> str:
    """Return a sentence about the ratios optimized / original of the pairs."""
    if ratio.low <= 1 <= ratio.high:
        return "no difference: 1 is within the spread"
    change = abs(ratio.median - 1)
    return (
        f"a step of the optimized settings takes {change:.0%} {'less' if ratio.median < 1 else 'more'} time"
    )


def measured(options: argparse.Namespace) -> tuple[dict[str, Classification], dict[str, Any]]:
    """Return both trainings, and times, memory and losses of their steps. Raises UsageError."""
    tasks = {name: prepared(name, options) for name in SETTINGS}
    steps = [Steps(task, endless_batches(task), keep=sys.maxsize) for task in tasks.values()]
    original, optimized = steps
    in_turns(original, optimized, WARM_UP)
    memory = [step_memory(one) for one in steps]
    seconds = in_turns(original, optimized, options.steps)
    results = {}
    for (name, task), one, took, most in zip(tasks.items(), steps, seconds, memory, strict=True):
        losses = torch.stack(one.losses)
        if not losses.isfinite().all():
            raise RunError(f"the loss of the {name} settings became {losses[~losses.isfinite()][0]:g}")
        results[name] = {
            "batch_size": task.options.batch_size,
            "accumulate": task.options.accumulate,
            "precision": task.precision.name,
            "sequences_per_step": task.samples_per_step,
            "step_seconds": took,
            "seconds": asdict(spread(took)),
            "sequences_per_s": task.samples_per_step / spread(took).median,
            "step_memory_mb": most,
            "training_losses": losses.tolist(),
            "sequences_learned_from": task.samples_per_step * task.state.step,
            **task.scored("val", task.held_out),
        }
    ratio = spread([second / first for first, second in zip(*seconds, strict=True)])
    return tasks, results | {"ratio": asdict(ratio), "finding": finding(ratio)}


def system_info(task: Classification) -> dict[str, Any]:
    """Return machine, versions, device, and whether MPS is available."""
    return {
        **provenance(),
        **machine(),
        "device": task.facts["device"],
        "mps_built": torch.backends.mps.is_built(),
        "mps_available": torch.backends.mps.is_available(),
        "peak_memory_of_process_mb": peak_resident() / 1e6,
    }


def table(results: dict[str, Any]) -> list[str]:
    """Return the lines of the comparison."""
    lines = [
        f"{'':10} {'batch':>8}  format  ms per step (10 % to 90 %)  sequences/s  MB per step  held-out loss"
    ]
    for name in SETTINGS:
        one = results[name]
        took = {limit: 1e3 * one["seconds"][limit] for limit in ("median", "low", "high")}
        times = f" × {one['accumulate']}" if one["accumulate"] > 1 else ""
        memory = "–" if one["step_memory_mb"] is None else f"{one['step_memory_mb']:.1f}"
        limits = f"({took['low']:.1f} to {took['high']:.1f})"
        lines.append(
            f"{name:10} {one['batch_size']:>4d}{times:4}  {one['precision']:6}  {took['median']:8.1f} "
            f"{limits:<17} {one['sequences_per_s']:12.0f} {memory:>12} {one['val_loss']:14.4f}"
        )
    ratio = results["ratio"]
    limits = f"({ratio['low']:.2f} to {ratio['high']:.2f})"
    return [*lines, f"ratio      {ratio['median']:.2f} {limits}: {results['finding']}"]


def main(argv: Sequence[str] | None = None) -> int:
    """Measure both settings, print a table and write the report. Raises UsageError and RunError."""
    options = read_command_line(argv)
    with explained_failures("out of memory; try --size small"):
        tasks, results = measured(options)
    task = tasks["original"]
    info = system_info(task)
    settings = {"size": options.size, "data": task.data.source, "parameters": task.facts["parameters"]}
    settings |= {"length": task.data.length, "warm_up_steps": WARM_UP + 1, "steps": options.steps}
    timestamp = datetime.now(UTC).isoformat(timespec="seconds")
    replace_json(
        options.json,
        {"timestamp": timestamp, "system_info": info, "settings": settings, "results": results},
    )
    taken = results["original"]["sequences_learned_from"]
    print(f"machine    {info['chip']}, {info['cpu_cores']} cores, {info['memory_gb']} GB; {info['system']}")
    print(f"versions   PyTorch {info['torch']}, Python {info['python']}\ndevice     {info['device']}")
    tell(f"data       {task.data.name}: {task.data.source}; {task.data.length:,} tokens")
    print(network_line(task.options, task.facts))
    print(f"steps      {options.steps} of each in turns; both learned from the same {taken:,} sequences")
    print("\n".join(table(results)))
    if (kind := task.state.device.type) != "mps":
        print(f"note       MPS was not measured: this is {kind.upper()}, and a Mac's GPU may differ")
    tell(f"report     {options.json}")
    return 0


if __name__ == "__main__":
    sys.exit(exit_with_one_line(main))
