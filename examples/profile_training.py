"""Profile the steps of a training program: time for data, Python and GPU, and calls that wait for the GPU.

    python examples/profile_training.py cifar_optimizers [options of its train.py]

The training is discarded. The trace of some steps is written to runs/profile_<system>.json, or into the
folder of --out; chrome://tracing and https://ui.perfetto.dev display it.
"""

import importlib
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # the folder of examples/ and snippets/
try:
    from examples.programs import imports

    imports.prepare(__file__)
except ModuleNotFoundError:
    print(f"error: {__file__} needs examples/ and snippets/, as in the handbook; copy both", file=sys.stderr)
    sys.exit(2)

import torch
from torch import nn

from examples.programs.program import Program
from examples.programs.run_folder import check_target
from examples.systems import modules
from snippets.errors import RunError, UsageError, exit_with_one_line, tell
from snippets.find_waits import WaitFinder
from snippets.foreign_files import open_regular
from snippets.profiling import record_calls, time_parts, time_undisturbed
from snippets.training_loop import Task, endless_batches

WARM_UP, STEPS, RECORDED = 10, 20, 5  # the first steps load libraries, compile kernels and reserve memory


def find_program(words: Sequence[str]) -> Program:
    """Return the training program named by the first word. Raises UsageError, which lists all names."""
    known = modules()
    if not words or words[0] not in known:
        given = f"not {words[0]!r}" if words else "and then the options of its program"
        raise UsageError(f"name a training system first ({', '.join(known)}), {given}")
    return importlib.import_module(known[words[0]]).PROGRAM


def show_times(task: Task, batches: Iterator[Any]) -> None:
    """Print the times of the parts of a step, and the times of CPU and device for the whole step."""
    device, model = task.state.device, task.state.model
    if isinstance(model, nn.ModuleDict):
        model = model["network"]  # the trained one; the other entry is its average
    parts = time_parts(batches, task.learn, model, device, STEPS)
    total = sum(parts.values())
    print(f"\nms per step, waiting for the device around each part (mean of {STEPS}):")
    for name, seconds in parts.items():
        print(f"  {name:<20}{1e3 * seconds:9.2f}{seconds / total:8.1%}")
    print(f"  {'all':<20}{1e3 * total:9.2f}")
    returned, finished = time_undisturbed(lambda: task.learn(next(batches)), device, STEPS)
    print("ms per step, not waiting between steps:")
    print(f"  {'calls returned after':<20}{1e3 * returned:9.2f}")
    print(f"  {'device finished':<20}{1e3 * finished:9.2f}")


def show_waits(task: Task, batches: Iterator[Any]) -> None:
    """Print the lines of one step in which the CPU waits for the device."""
    with WaitFinder(task.state.device) as finder:
        task.learn(next(batches))
    print(f"\nwaits in one step: {finder.waits.total()}")
    for (reason, line), count in finder.waits.most_common(10):
        print(f"  {count:4d} × {line:<28} {reason}")


def show_calls(task: Task, batches: Iterator[Any], trace: Path) -> None:
    """Print the calls that take the most time, and write a trace. Raises UsageError and RunError."""
    try:
        calls = record_calls(lambda: task.learn(next(batches)), task.state.device, trace, steps=RECORDED)
    except OSError as error:
        raise UsageError(f"cannot write {trace}: {error.strerror}; use --out") from error
    unfinished = trace.with_name(f"{trace.name}.tmp")
    if unfinished.exists():  # PyTorch renames it at the end, and does not raise
        unfinished.unlink()
        raise RunError(f"cannot write {trace}: the disk is full, or files may not be so large; use --out")
    total = sum(call.milliseconds for call in calls)
    print(f"\ncalls in {RECORDED} recorded steps, {total:.1f} ms:\n   own ms  share  calls  name")
    for name, milliseconds, count in calls[:10]:
        print(f"{milliseconds:9.2f} {milliseconds / total:6.1%} {count:6d}  {name}")
    tell(f"trace: {trace}")


def is_trace(file: Path) -> bool:
    """Return whether a file begins like a trace of PyTorch's profiler."""
    try:
        with open_regular(file) as content:
            return b'"schemaVersion"' in content.read(4096)
    except OSError:
        return False


def make_folder(folder: Path) -> None:
    """Make the folder of the trace before measuring. Raises UsageError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot make the folder {folder}: {error.strerror}; use another --out") from error


def main(argv: Sequence[str] | None = None) -> int:
    """Profile the training that the command line describes. Raises UsageError."""
    words = list(sys.argv[1:] if argv is None else argv)
    program = find_program(words)
    typed = program.read_command_line(words[1:])
    folder = Path(typed.pop("out", "runs"))
    if folder.is_file():
        raise UsageError(f"--out {folder} is a file; name a folder")
    trace = folder / f"profile_{program.system.replace('/', '_')}.json"
    check_target(trace, is_trace)
    task = program.prepare(typed)
    make_folder(folder)
    print(f"device: {task.facts['device']}\nprecision: {task.facts['precision']}")
    print(f"PyTorch {torch.__version__}, {torch.get_num_threads()} CPU threads")
    batches = endless_batches(task)
    for _ in range(WARM_UP):
        task.learn(next(batches))
    show_times(task, batches)
    show_waits(task, batches)
    show_calls(task, batches, trace)
    return 0


if __name__ == "__main__":
    sys.exit(exit_with_one_line(main))
