"""Both stages, trained for a few steps, for the tests of the programs that use them."""

import importlib
import shutil
from types import SimpleNamespace

import pytest

from examples.floorplan_diffusion import generate
from examples.floorplan_diffusion.picture import Picture
from examples.floorplan_diffusion.trained import EDGES, NODES
from examples.systems import find, modules
from snippets.errors import exit_with_one_line


@pytest.fixture(scope="session")
def tiny_runs(tmp_path_factory, one_thread):
    """Train both stages for a few steps; return a folder with runs/ in it."""
    folder = tmp_path_factory.mktemp("both stages")
    for stage in (NODES, EDGES):
        program = find(stage.system)[1][0]
        words = program.words({**program.tiny, "epochs": 1, "device": "cpu"})
        out = str(folder / stage.runs / "first")
        assert importlib.import_module(modules()[stage.system]).PROGRAM.main([*words, "--out", out]) == 0
    return folder


@pytest.fixture
def both_stages(tiny_runs, tmp_path, monkeypatch):
    """Go to a folder with a copy of those runs, which a test may damage, and return it."""
    monkeypatch.chdir(shutil.copytree(tiny_runs, tmp_path / "here"))
    return tmp_path / "here"


@pytest.fixture
def call(both_stages, capsys, monkeypatch):
    """Return a function that calls generate.py there and gives exit code, output and errors.

    It draws no PNG, which would take most of the time.
    """
    monkeypatch.setattr(Picture, "png", lambda picture, **settings: b"")

    def run(*words):
        capsys.readouterr()
        code = exit_with_one_line(generate.main, [*map(str, words), "--device", "cpu"])
        printed = capsys.readouterr()
        return SimpleNamespace(code=code, out=printed.out, err=printed.err)

    return run
