"""A trained run with the files that others make from it, for the tests of this system."""

import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from examples.two_tower import build_cache, evaluate, mine_near_misses, train
from examples.two_tower.data_sources import page_pairs
from snippets.errors import exit_with_one_line

PROGRAMS = {"build_cache": build_cache, "mine_near_misses": mine_near_misses, "evaluate": evaluate}
WORDS = "--data generated --rows 240 --batch-size 32 --epochs 1 --device cpu --seed 3"


@pytest.fixture(scope="session")
def texts():
    """Return the pairs of the pages, whose vectors take seconds to make."""
    return page_pairs()


@pytest.fixture(scope="session")
def first_run(tmp_path_factory, one_thread):
    """Train for one epoch of six steps, and let the other programs do their part; return the run folder."""
    folder = tmp_path_factory.mktemp("first") / "run"
    assert train.PROGRAM.main([*WORDS.split(), "--out", str(folder)]) == 0
    for program in (build_cache, mine_near_misses):
        assert program.main([str(folder), "--device", "cpu"]) == 0
    return folder


@pytest.fixture
def run_copy(first_run, tmp_path):
    """Return a copy of that run, which a test may damage."""
    return shutil.copytree(first_run, tmp_path / "first")


@pytest.fixture
def call(capsys):
    """Return a function that calls a program by its name and gives exit code, output and errors."""

    def run(name, *words):
        capsys.readouterr()
        program = PROGRAMS[name]
        code = exit_with_one_line(program.main, [*map(str, words), "--device", "cpu"])
        printed = capsys.readouterr()
        return SimpleNamespace(code=code, out=printed.out, err=printed.err)

    return run


@pytest.fixture
def from_files():
    """Return a function that gives the words of a training with the files of a run folder."""

    def words(folder: Path, **others):
        files = {
            "start_from": folder / "checkpoints" / "best.pt",
            "p_cache": folder / "p_cache.npy",
            "near_misses": folder / "near_misses.jsonl",
        }
        named = {**files, **others}.items()
        options = [f"--{name.replace('_', '-')}={value}" for name, value in named if value is not None]
        return [*WORDS.split(), *options]

    return words
