"""Time a training system on this machine: CPU, then the GPU, then bf16, then compiled.

    python examples/benchmark.py cifar_optimizers
    python examples/benchmark.py cifar_optimizers --batch-sizes 64,128,256 --json speed.json --chart speed.png

Every level trains in its own process, from the same weights; the row of one that cannot run says why.
"""

import importlib
import itertools
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

from examples.benchmarking import report
from examples.benchmarking.child import Job
from examples.benchmarking.machine import machine
from examples.benchmarking.options import Options, check_words, make_parser, read_options
from examples.benchmarking.run_in_child import run_in_child
from examples.programs.report import provenance
from examples.systems import modules
from snippets.atomic_write import replace_json
from snippets.errors import RunError, UsageError, exit_with_one_line, tell
from snippets.stop_signals import terminate_like_ctrl_c


def check_system_words(options: Options) -> None:
    """Check the flags of the system before any process is started. Raises UsageError."""
    system = importlib.import_module(modules()[options.system]).PROGRAM
    try:
        system.read_command_line(options.words)
    except UsageError as error:
        own = " ".join(action.option_strings[-1] for action in make_parser()._actions)
        raise UsageError(f"{error}; of the benchmark: {own}") from error
    check_words(options)


def jobs(options: Options) -> Iterator[Job]:
    """Yield the jobs: all levels at the first sweep point, then at the next."""
    module = modules()[options.system]
    for batch_size, workers, level in itertools.product(options.batch_sizes, options.workers, options.levels):
        yield Job(module, options.words, level, options.plan, batch_size, workers)


def measure(job: Job) -> dict[str, Any]:
    """Return the result of a job, without starting a process when its device is missing."""
    obstacle = job.level.obstacle
    return {"status": "unavailable", "reason": obstacle} if obstacle else run_in_child(job)


def describe(options: Options, facts: dict[str, Any]) -> Iterator[str]:
    """Yield the lines above the table, which name the training and the machine."""
    plan, last = options.plan, options.plan.compared_steps
    power = f", {facts['power']}" if facts["power"] else ""
    gpu = f", {facts['gpu']}" if facts["gpu"] else ""
    yield f"system     {options.system} {' '.join(options.words)}".rstrip()
    yield f"machine    {facts['chip']}, {facts['cpu_cores']} cores, {facts['memory_gb']:g} GB{gpu}{power}"
    yield f"versions   PyTorch {torch.__version__}, {torch.get_num_threads()} CPU threads"
    yield f"steps      {plan.warm_up} not counted, then {plan.readings} readings of the clock"
    yield f"loss       mean of steps {max(1, last - report.COMPARED + 1)} to {last}"
    if facts["variables"]:
        yield "variables  " + " ".join(f"{name}={value}" for name, value in facts["variables"].items())


def run_all(options: Options, rows: list[report.Row]) -> None:
    """Measure every job and print its row at once, so that an interruption loses only the current one."""
    print(report.HEADER, flush=True)
    for job in jobs(options):
        row = report.add_row(rows, job, measure(job))
        print(report.line(row), flush=True)


def write_files(options: Options, rows: list[report.Row], content: dict[str, Any]) -> None:
    """Write the JSON file and the chart if they were requested. Raises RunError."""
    try:
        if options.json:
            replace_json(options.json, content | {"rows": [report.as_record(row) for row in rows]})
            tell(f"json       {options.json}")
        if options.chart and any(row.measured for row in rows):
            from examples.benchmarking.chart import draw_chart  # takes half a second

            draw_chart(rows, options.chart, title_of(options, content["machine"]))
            tell(f"chart      {options.chart}")
    except OSError as error:
        raise RunError(f"cannot write {error.filename}: {error.strerror}") from error


def title_of(options: Options, facts: dict[str, Any]) -> str:
    """Return the title of the chart."""
    machine_name = ", ".join(filter(None, (facts["chip"], facts["gpu"])))
    return f"{options.system}: {machine_name}, PyTorch {torch.__version__}"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark; return 130 when interrupted, else 0. Raises UsageError and RunError."""
    options = read_options(list(sys.argv[1:] if argv is None else argv))
    check_system_words(options)
    content: dict[str, Any] = {"system": options.system, "words": options.words, "plan": vars(options.plan)}
    content |= {"machine": machine(), "provenance": provenance(), "interrupted": False}
    for line in describe(options, content["machine"]):
        print(line)
    rows: list[report.Row] = []
    try:
        with terminate_like_ctrl_c():
            run_all(options, rows)
    except KeyboardInterrupt:
        content["interrupted"] = True
        print("interrupted: the levels above are complete", flush=True)
    write_files(options, rows, content)
    if content["interrupted"]:
        return 130
    if not any(row.measured for row in rows):
        raise RunError("no level could be measured; the reasons are above")
    if any(row.loss_differs for row in rows):
        print("differs    this level did not learn what the first one learned: its speed is worth nothing")
    return 0


if __name__ == "__main__":
    sys.exit(exit_with_one_line(main))
