"""Runs of the training programs in this process, on any device: what conftest.py of several folders imports.

A test that asks for a program is run for each of the registry (examples/systems.py); in the folder of a
system, for those of that system.
"""

import importlib
import itertools
import json
import os
import signal
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch

from examples.programs.run_folder import read_metrics
from examples.systems import find, modules
from snippets import training_loop
from snippets.checkpoints import load_checkpoint
from snippets.errors import exit_with_one_line
from snippets.training_loop import Training


@dataclass
class Outcome:
    """What a call of train.py left behind."""

    code: int
    out: str
    err: str
    folder: Path | None

    def json(self, name):
        return json.loads((self.folder / name).read_text())

    @property
    def metrics(self):
        return read_metrics(self.folder / "metrics.jsonl")

    @property
    def last(self):
        return load_checkpoint(self.folder / "checkpoints" / "last.pt")

    def assert_same_as(self, other):
        """Compare weights, optimizers, random numbers, sums and results bit by bit; not the speed."""
        assert_same(self.last, other.last)
        for first, second in zip(self.metrics, other.metrics, strict=True):
            assert_same(first, second)
        summaries = [outcome.json("summary.json") for outcome in (self, other)]
        assert len(summaries[0]) > 4
        for summary in summaries:
            del summary["options"]  # --out and --data may be named in another way
        assert_same(*summaries)


def assert_same(first, second, where=""):
    """Compare two nested states bit by bit."""
    assert type(first) is type(second), where
    if isinstance(first, torch.Tensor):
        assert torch.equal(first, second), where
    elif isinstance(first, dict):
        assert first.keys() == second.keys(), where
        for key in first.keys() - {"seconds", "samples_per_s", "config"}:  # they do differ
            assert_same(first[key], second[key], f"{where}/{key}")
    elif isinstance(first, list | tuple):
        assert len(first) == len(second), where
        for index, pair in enumerate(zip(first, second, strict=True)):
            assert_same(*pair, f"{where}/{index}")
    else:
        assert first == second, where


@pytest.fixture(scope="session")
def one_thread():
    """Return an environment for processes with one CPU thread, and let this process have one too.

    Networks this small gain nothing from a second thread, and on a busy machine two wait for each other.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    os.environ["OMP_NUM_THREADS"] = "1"
    yield os.environ  # as it is when a program starts: coverage may pause by then (tests/unmeasured.py)
    torch.set_num_threads(threads)


# Options of the first are flags, those of the second Hydra's words. Both have this project's loop.
TWO_FOR_ALL = {"cifar_optimizers", "genomic_caduceus/train"}


def pytest_generate_tests(metafunc):
    """Run a test that asks for a program for every one that it can mean, unless it names its own.

    With the mark `two_for_all`, only the long tests run it for more programs than these two.
    """
    given = any("program_name" in mark.args[0] for mark in metafunc.definition.iter_markers("parametrize"))
    folder = metafunc.definition.path.parent.name
    own = [name for name in modules() if name.partition("/")[0] == folder]
    if "program_name" in metafunc.fixturenames and not given and len(own) != 1:
        few = metafunc.definition.get_closest_marker("two_for_all")
        names = [
            pytest.param(name, marks=[pytest.mark.long] if few and name not in TWO_FOR_ALL else [])
            for name in own or modules()
        ]
        metafunc.parametrize("program_name", names, indirect=True)


@pytest.fixture
def program_name(request):
    """Return the name of the program under test: the test's parameter, or the only one of its folder."""
    return getattr(request, "param", None) or request.path.parent.name


@pytest.fixture
def program(program_name):
    """Return what the registry knows of the program under test."""
    (known,) = find(program_name)[1]
    return known


@pytest.fixture
def system(program_name):
    """Return the module of the program under test."""
    return importlib.import_module(modules()[program_name])


@pytest.fixture
def tiny(program, device):
    """Return a function that gives the words of a tiny training, with other settings."""
    return lambda **settings: program.words({"device": device} | dict(program.tiny) | settings)


@pytest.fixture
def run_train(system, program, tmp_path, monkeypatch, capsys, one_thread):
    """Return a function that calls main in an empty folder; settings have the shared names of options."""
    monkeypatch.chdir(tmp_path)

    def call(*words, **settings):
        words = [str(word) for word in (*words, *program.words(settings))]
        capsys.readouterr()
        code = exit_with_one_line(system.PROGRAM.main, words)
        printed = capsys.readouterr()
        named = dict(word.partition("=")[::2] for word in words) | dict(itertools.pairwise(words)) | settings
        folder = named.get("out") or named.get("--out") or named.get("resume") or named.get("--resume")
        if folder in (None, "auto"):
            folders = sorted(Path("runs", system.PROGRAM.system).glob("*"))
            folder = folders[-1].resolve() if folders else None
        return Outcome(code, printed.out, printed.err, folder and Path(folder))

    return call


@pytest.fixture
def stop(run_train, signal_at, tiny):
    """Return a function that stops a tiny run in the folder `run` after a step."""

    def call(at, number=signal.SIGINT, **settings):
        signal_at(at, number)
        stopped = run_train(*tiny(**settings), out="run")
        signal_at(0)
        assert (stopped.code, stopped.last["step"]) == (128 + number, at)
        return stopped

    return call


def assert_refused(outcome, message):
    """Assert that wrong usage was answered with one line."""
    assert (outcome.code, outcome.err.count("\n")) == (2, 1)
    assert outcome.err.startswith("error: ") and message in outcome.err, outcome.err


def contents(folder):
    """Return the content of every file below a folder."""
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def outcome_of():
    """Return a function that gives the outcome of a run that another process made in a folder."""
    return lambda folder: Outcome(0, "", "", folder)


@pytest.fixture
def signal_at(monkeypatch):
    """Return a function that sends this process a signal during the given step of the next run."""
    original = Training.after_step

    def arrange(at, number=signal.SIGINT):
        def after_step(training, *given):
            if training.state.step == at:
                signal.raise_signal(number)
            return original(training, *given)

        monkeypatch.setattr(Training, "after_step", after_step)

    return arrange


@pytest.fixture
def save_often(monkeypatch):
    """Let runs save whenever they look at the loss: the shortest ones here would save at their end only."""
    monkeypatch.setattr(training_loop, "FIRST_SAVE", 0.0)
    monkeypatch.setattr(training_loop, "SAVE_SHARE", float("inf"))


@pytest.fixture
def without_curves(system, monkeypatch):
    """Let runs in this process draw nothing at their end: in the shortest, that takes half of the time."""
    monkeypatch.setattr(system.PROGRAM.report, "draw_curves", lambda *arguments: None)


@pytest.fixture(scope="session")
def outcomes_so_far():
    """Return the runs that nothing disturbed, by system and options."""
    return {}


@pytest.fixture
def undisturbed(system, program, outcomes_so_far, tmp_path_factory, one_thread):
    """Return a function that gives the outcome of a run with certain options that nothing disturbed."""

    def run(options):
        key = (system.PROGRAM.system, *map(str, options))
        if key not in outcomes_so_far:
            folder = tmp_path_factory.mktemp("undisturbed") / "run"
            assert system.PROGRAM.main([*key[1:], *program.words({"out": folder})]) == 0
            outcomes_so_far[key] = Outcome(0, "", "", folder)
        return outcomes_so_far[key]

    return run
