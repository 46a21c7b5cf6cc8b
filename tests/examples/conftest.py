"""The training programs run on the CPU here."""

import importlib

import pytest

from examples.systems import modules
from tests.examples.every_program import make_workplace
from tests.examples.program_runs import *  # noqa: F403 - pytest looks for fixtures here
from tests.examples.program_runs import Outcome
from tests.examples.system_cases import tiny_words


@pytest.fixture
def device():
    """Return the device on which a tiny run trains."""
    return "cpu"


def train_with(name, words):
    """Train with a program of the registry in this process."""
    assert importlib.import_module(modules()[name]).PROGRAM.main([str(word) for word in words]) == 0


@pytest.fixture(scope="session")
def workplace(tmp_path_factory, one_thread):
    """Return a folder with the runs that other programs use."""
    folder = tmp_path_factory.mktemp("workplace") / "first"
    make_workplace(folder, train_with)
    return folder


@pytest.fixture(scope="session")
def references(tmp_path_factory, one_thread):
    """Return a function that gives the outcome of a tiny training that nothing disturbed."""
    known = {}

    def outcome(name):
        if name not in known:
            folder = tmp_path_factory.mktemp("reference") / "run"
            train_with(name, tiny_words(name, out=folder))
            known[name] = Outcome(0, "", "", folder)
        return known[name]

    return outcome
