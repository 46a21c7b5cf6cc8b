"""The commands of all programs, each with the least to do, and a folder in which they find what they need."""

import importlib
from dataclasses import replace
from pathlib import Path

from examples.systems import SYSTEMS, modules
from tests.examples.system_cases import Command, SystemCases, tiny_words

CASES: dict[str, SystemCases] = {  # of a system without any, test_systems.py says so
    system.name: importlib.import_module(f"tests.examples.{system.name}.cases").CASES
    for system in SYSTEMS
    if Path(__file__).with_name(system.name).joinpath("cases.py").exists()
}
RUNS = {name: run for cases in CASES.values() for name, run in cases.runs.items()}


def training(name, **settings):
    """Return the command of a training in the folder `run`, or of what is left of it."""
    script = f"{name}.py" if "/" in name else f"{name}/train.py"
    return Command(script, tuple(tiny_words(name, **settings)))


FIRST = next(iter(modules()))
OTHERS = {
    "benchmark": Command("benchmark.py", (FIRST, "--quick", "--levels", "cpu", "--json", "b.json")),
    "monitor": Command("monitor.py", ("--once", next(iter(RUNS.values()))[0])),
    "profile_training": Command("profile_training.py", (FIRST, *tiny_words(FIRST))),
}
OTHERS |= {
    command.script.removesuffix(".py"): command for cases in CASES.values() for command in cases.commands
}
TRAININGS = {name: training(name, out="run", resume="auto") for name in modules()}
COMMANDS = TRAININGS | OTHERS
READING = {  # trainings on data of one's own
    name: replace(training(name, data=data, out="run", **settings), data=data)
    for cases in CASES.values()
    for name, (data, settings) in cases.reading.items()
}


def make_workplace(folder: Path, train):
    """Let `train(name, words)` make, in the working folder `folder`, the runs that other programs use."""
    for name, (run, settings) in RUNS.items():
        train(name, tiny_words(name, **{"epochs": 1, "out": folder / run} | settings))
    for cases in CASES.values():
        cases.make_files(folder)


def made_by(command, folder):
    """Return the content of what a command wrote in `folder`, by path."""
    paths = [folder / name for name in command.made]
    files = [
        file for path in paths for file in (path.rglob("*") if path.is_dir() else [path]) if file.is_file()
    ]
    return {str(file.relative_to(folder)): file.read_bytes() for file in files}
