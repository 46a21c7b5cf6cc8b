"""The command line of the benchmark: a system, flags of the benchmark, flags of the system."""

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from examples.benchmarking.levels import Level, default_levels, parse_levels
from examples.benchmarking.steps import Plan
from examples.programs.command_line import Spelling, StrictParser, expanded, whole_number
from examples.programs.run_folder import check_target, json_with
from examples.programs.speed import MEASURED
from examples.systems import modules
from snippets.errors import Option, UsageError
from snippets.foreign_files import read_bytes

DECIDED = {  # options of the systems that the benchmark sets itself, and their replacements
    "device": "--levels",
    "precision": "--levels",
    "compile": "--levels",
    **dict.fromkeys(MEASURED, "--levels"),
    "epochs": "--steps",
    "max_steps": "--steps",
    "out": "--json",
    "resume": "--json",
}


@dataclass(frozen=True)
class Options:
    """The measurements to make, and the files to write."""

    system: str
    words: list[str]  # flags of the system
    levels: list[Level]
    batch_sizes: list[int | None]
    workers: list[int | None]
    plan: Plan
    json: Path | None
    chart: Path | None


def whole_numbers(text: str, low: int, high: int) -> list[int]:
    """Return the numbers in a comma-separated list. Raises ArgumentTypeError, also for repeated numbers."""
    read = whole_number(low, high)
    values = [read(word) for word in text.split(",")]
    return list(dict.fromkeys(values))


def is_chart(file: Path) -> bool:
    """Return whether draw_chart wrote the picture."""
    from examples.benchmarking.chart import MARK  # takes half a second

    try:
        return MARK.encode() in read_bytes(file, most=1 << 26)
    except OSError:
        return False


def make_parser() -> StrictParser:
    """Return the parser of the benchmark's own flags."""
    parser = StrictParser(
        prog="benchmark.py",
        usage="benchmark.py SYSTEM [options of the benchmark] [options of the system]",
        description="Time the training steps of a system on the CPU, on the GPU, in bf16, compiled.",
        epilog=f"SYSTEM is one of: {', '.join(modules())}. All other flags are those of its program.",
    )
    add = parser.add_argument
    add("--levels", help="like cpu,mps,mps+bf16,mps+bf16+compile+fused; by default what this machine has")
    add("--steps", type=whole_number(2, 10_000), help="timed readings of each level; 30")
    add("--warm-up", type=whole_number(1, 10_000), help="steps before them, not counted; 10")
    add("--quick", action="store_true", help="2 + 5 steps with --quick of the system: does it run at all")
    add("--batch-sizes", type=lambda text: whole_numbers(text, 1, 10**6), help="a sweep, like 16,32,64")
    add("--workers", type=lambda text: whole_numbers(text, 0, 128), help="a sweep, like 0,2,4")
    add("--json", type=expanded, metavar="FILE", help="write everything that was measured, and the machine")
    add("--chart", type=expanded, metavar="FILE.png", help="draw samples per second")
    return parser


def read_options(argv: Sequence[str]) -> Options:
    """Return the options of the benchmark, with the system's options as words. Raises UsageError."""
    parser = make_parser()
    if not argv or argv[0] in ("-h", "--help"):
        parser.parse_args(argv or ["--help"])
    system, *rest = argv
    if system not in modules():
        raise UsageError(f"unknown system {system!r}; name one first: {', '.join(modules())}")
    own, words = parser.parse_known_args(rest)
    for path in filter(None, (own.json, own.chart)):
        if not path.absolute().parent.is_dir():
            raise UsageError(f"{path}: there is no folder {path.absolute().parent}")
        if path.is_dir():
            raise UsageError(f"{path} is a folder; name a file")
    if own.json:
        check_target(own.json, json_with("system", "plan", "rows"), [".json"], option="--json")
    if own.chart:
        check_target(own.chart, is_chart, [".png", ".svg", ".pdf"], option="--chart")
    few, many = (2, 5) if own.quick else (Plan.warm_up, Plan.readings)
    return Options(
        system=system,
        words=[*words, *spelling_of(system).words({"quick": True})] if own.quick else words,
        levels=parse_levels(own.levels) if own.levels else default_levels(),
        batch_sizes=own.batch_sizes or [None],
        workers=own.workers or [None],
        plan=Plan(own.warm_up or few, own.steps or many),
        json=own.json,
        chart=own.chart,
    )


def spelling_of(system: str) -> Spelling:
    """Return the spelling of a system's options."""
    return importlib.import_module(modules()[system]).PROGRAM.spelling


def check_words(options: Options) -> None:
    """Raise UsageError for an option of the system that the benchmark sets."""
    spelling = spelling_of(options.system)
    typed = {key_of(word) for word in options.words}
    swept = {"batch_size": "--batch-sizes"} if options.batch_sizes != [None] else {}
    for name, instead in (DECIDED | swept).items():
        spelt = spelling.option(Option(name))
        if typed & {spelt, *map(key_of, spelling.words({name: 1}))}:
            raise UsageError(f"{spelt} is decided by the benchmark; use {instead}")


def key_of(word: str) -> str:
    """Return the part of a word before =, without the + with which Hydra adds a key."""
    return word.partition("=")[0].lstrip("+")
