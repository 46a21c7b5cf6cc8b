"""What the tests of all systems have to know of one: `CASES` in `cases.py` of its folder of tests.

test_systems.py names what is missing there. Modules that need PyTorch are imported where they are called.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any

from examples.systems import FOLDER, Settings, find
from tools.read_yaml import read_yaml

RESULTS = Path(__file__).resolve().parents[2] / "docs/data/results"
CPU = ("--device", "cpu")


@dataclass(frozen=True)
class Command:
    """A program with its words; `made` are the files or folders that it writes, the same each time."""

    script: str  # below examples/
    words: tuple[str, ...]
    made: tuple[str, ...] = ()
    data: str = ""  # that it reads
    starts: bool = False  # whether it trains in processes of its own: then it is not tried in a forked one

    @property
    def line(self):
        """Return what is typed after `python`, or after `bash`."""
        return [str(FOLDER / self.script), *self.words]


@dataclass(frozen=True, kw_only=True)
class SystemCases:
    """Of a system, what cannot be found out: the rest is in the registry."""

    # The row of the README: recordings of its trainings in their order (docs/data/recorded/), and a function
    # that returns the figures of the last cell, as shares, and of how many seeds they are.
    recordings: tuple[str, ...]
    reached: Callable[[], tuple[list[float], int]]

    # Its programs that do not train; scripts that do without, each with the reason in a comment.
    commands: tuple[Command, ...] = ()
    no_commands: tuple[str, ...] = ()
    # What its programs, and those of all systems, find in the folder in which they are tried: by program,
    # the folder of a tiny run and its settings; and files that a function makes there, when the runs are.
    runs: Mapping[str, tuple[str, Settings]] = field(default_factory=dict)
    make_files: Callable[[Path], object] = lambda folder: None
    # Trainings on data of one's own, by program: the data that they read there, and settings.
    reading: Mapping[str, tuple[str, Settings]] = field(default_factory=dict)
    # Scripts that start its trainings, each for some seconds; `made` is the folder of the run.
    launchers: Mapping[str, Command] = field(default_factory=dict)

    # Options that belong to the recipe, with other values than the tiny training has; and those that do not:
    # sizes, files, what is refused or computes the same.
    recipe: Settings = field(default_factory=dict)
    no_recipe: frozenset[str] = frozenset()
    # By program, the share of the learning rate at a step of so many, where it is no cosine that ends at 0.
    rates: Mapping[str, Callable[[int, int], float]] = field(default_factory=dict)
    clip: float | None = 1.0  # the limit of gradients, if there is any
    quick_single_file: bool = False  # it learns an epoch in seconds, and stands for the others


def tiny_words(name: str, **settings: Any) -> list[str]:
    """Return the words of a tiny training on the CPU."""
    (program,) = find(name)[1]
    return program.words(dict(program.tiny) | {"device": "cpu"} | settings)


def results(name: str) -> Any:
    """Return the content of a file of docs/data/results/."""
    return read_yaml(RESULTS / f"{name}.yaml")


def spread(values: list[float]) -> list[float]:
    """Return the mean, the least and the largest value."""
    return [fmean(values), min(values), max(values)]
