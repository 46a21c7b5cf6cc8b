"""The runs that await a GPU are commands that the programs take."""

import importlib
from pathlib import Path

import pytest

from examples.benchmark import check_system_words
from examples.benchmarking.options import read_options
from examples.systems import modules

ROOT = Path(__file__).resolve().parents[3]
LINES = (ROOT / "tools/measuring/not_yet_on_gpus.txt").read_text(encoding="utf-8").splitlines()
COMMANDS = [line for line in LINES if not line.startswith("#")]


@pytest.mark.parametrize("command", COMMANDS)
def test_programs_take_these_options(command):
    program, *words = command.removeprefix("python ").split()
    if program == "examples/benchmark.py":
        check_system_words(read_options(words))
        return
    name = program.removeprefix("examples/").removesuffix(".py").replace("/", ".")
    assert f"examples.{name}" in modules().values()
    importlib.import_module(f"examples.{name}").PROGRAM.read_command_line(words)
