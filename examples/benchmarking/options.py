"""The command line of the benchmark: a system, flags of the benchmark, flags of the system."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from examples.benchmarking.levels import Level, default_levels, parse_levels
from examples.benchmarking.steps import Plan
from examples.systems import modules
from snippets.framework.command_line import StrictParser, whole_number
from snippets.framework.errors import UsageError
from snippets.framework.user_paths import expanded

DECIDED = {  # options of the systems that the benchmark sets itself, and what to use instead
    "device": "--levels",
    "precision": "--levels",
    "compile": "--levels",
    "epochs": "--steps",
    "max_steps": "--steps",
    "out": "--json",
    "resume": "--json",
}


@dataclass(frozen=True)
class Options:
    """What to measure and where to write it."""

    system: str
    words: list[str]  # flags of the system
    levels: list[Level]
    batch_sizes: list[int | None]
    workers: list[int | None]
    plan: Plan
    json: Path | None
    chart: Path | None


def whole_numbers(text: str, low: int, high: int) -> list[int]:
    """Return the numbers of a list with commas. Raises ArgumentTypeError for others, and for one twice."""
    read = whole_number(low, high)
    values = [read(word) for word in text.split(",")]
    return list(dict.fromkeys(values))


def make_parser() -> StrictParser:
    """Return the parser of the benchmark's own flags."""
    parser = StrictParser(
        prog="benchmark.py",
        usage="benchmark.py SYSTEM [options of the benchmark] [options of the system]",
        description="Time the training steps of a system on the CPU, on the GPU, in bf16, compiled.",
        epilog=f"SYSTEM is one of: {', '.join(modules())}. All other flags are those of its program.",
    )
    add = parser.add_argument
    add("--levels", help="like cpu,mps,mps+bf16,mps+bf16+compile; by default what this machine has")
    add("--steps", type=whole_number(2, 10_000), help="timed readings of each level; 30")
    add("--warm-up", type=whole_number(1, 10_000), help="steps before them, not counted; 10")
    add("--quick", action="store_true", help="2 + 5 steps with --quick of the system: does it run at all")
    add("--batch-sizes", type=lambda text: whole_numbers(text, 1, 10**6), help="a sweep, like 16,32,64")
    add("--workers", type=lambda text: whole_numbers(text, 0, 128), help="a sweep, like 0,2,4")
    add("--json", type=expanded, metavar="FILE", help="write everything that was measured, and the machine")
    add("--chart", type=expanded, metavar="FILE.png", help="draw samples per second")
    return parser


def read_options(argv: Sequence[str]) -> Options:
    """Return the options of the benchmark; the system's are kept as words. Raises UsageError."""
    parser = make_parser()
    if not argv or argv[0] in ("-h", "--help"):
        parser.parse_args(argv or ["--help"])
    system, *rest = argv
    if system not in modules():
        raise UsageError(f"unknown system {system!r}; name one first: {', '.join(modules())}")
    own, words = parser.parse_known_args(rest)
    if own.batch_sizes and "--batch-size" in [word.partition("=")[0] for word in words]:
        raise UsageError("--batch-size and --batch-sizes: give one of them")
    for path in filter(None, (own.json, own.chart)):
        if not path.absolute().parent.is_dir():
            raise UsageError(f"{path}: there is no folder {path.absolute().parent}")
        if path.is_dir():
            raise UsageError(f"{path} is a folder; name a file")
    if own.chart and own.chart.suffix not in (".png", ".svg", ".pdf"):
        raise UsageError(f"--chart {own.chart}: the name must end in .png, .svg or .pdf")
    few, many = (2, 5) if own.quick else (Plan.warm_up, Plan.readings)
    return Options(
        system=system,
        words=[*words, "--quick"] if own.quick else words,
        levels=parse_levels(own.levels) if own.levels else default_levels(),
        batch_sizes=own.batch_sizes or [None],
        workers=own.workers or [None],
        plan=Plan(own.warm_up or few, own.steps or many),
        json=own.json,
        chart=own.chart,
    )


def check_words(typed: dict[str, Any]) -> None:
    """Raise UsageError for an option of the system that the benchmark decides."""
    for name, instead in DECIDED.items():
        if name in typed:
            raise UsageError(f"--{name.replace('_', '-')} is decided by the benchmark; use {instead}")
