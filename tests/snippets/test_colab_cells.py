"""The cells for Colab: what they do with Drive and zip, with a small program in place of the training.

tests/site/test_notebooks.py runs them with the real one.
"""

import contextlib
import io
import sys
import types
import zipfile
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest
import torch

CELLS = Path(__file__).resolve().parents[2] / "snippets" / "colab_cells.py"
PROGRAM = """
import pathlib, shutil, sys, time
run = pathlib.Path(sys.argv[sys.argv.index("--out") + 1])
print("epoch", "continues" if (run / "step").exists() else "begins")
goes_on = (run / "step").exists()
(run / "checkpoints").mkdir(parents=True, exist_ok=True)
shutil.copy(pathlib.Path(__file__).with_name("best.pt"), run / "checkpoints")
(run / "step").write_text("1")
print(1, flush=True)
if not goes_on:
    time.sleep(60)  # the cut ends it
print("finished")
"""

pytestmark = [pytest.mark.program]


def module(name, **content):
    """Return a module as an import would leave it."""
    made = types.ModuleType(name)
    made.__spec__ = ModuleSpec(name, None)
    vars(made).update(content)
    return made


@pytest.fixture
def content(tmp_path, monkeypatch):
    """Return the folder of a session of Colab, with an uploaded zip and a Drive that can be mounted."""
    monkeypatch.chdir(tmp_path)
    saved = io.BytesIO()
    torch.save({"step": 1}, saved)
    with zipfile.ZipFile("mps-handbook.zip", "w") as archive:
        archive.writestr("mps-handbook/examples/cifar_optimizers/train.py", PROGRAM)
        archive.writestr("mps-handbook/examples/cifar_optimizers/best.pt", saved.getvalue())
    drive = module("google.colab.drive", mount=lambda folder: Path(folder).mkdir())
    for made in (module("google"), module("google.colab"), drive):
        monkeypatch.setitem(sys.modules, made.__name__, made)
    return tmp_path


def run_cells(content):
    """Run all cells, for which `content` is /content; return their names and what they printed."""
    printed, names = io.StringIO(), {"__name__": "cells"}
    code = CELLS.read_text(encoding="utf-8").replace("/content/", f"{content}/")
    with contextlib.redirect_stdout(printed):
        exec(compile(code, CELLS, "exec"), names)  # lines of the file itself count as executed
    return names, printed.getvalue()


def test_a_run_continues_from_its_copy(content):
    names, printed = run_cells(content)
    assert "the handbook is there: True" in printed
    assert printed.index("epoch begins") < printed.index("epoch continues") < printed.index("finished")
    assert names["kept"] == content / "drive" / "MyDrive" / "runs"
    assert "in the checkpoint: step\n" in printed
    (names["kept"] / "colab" / "step").unlink()
    with contextlib.redirect_stdout(io.StringIO()):
        names["train"](every=-1)  # copies at each line
    assert (names["kept"] / "colab" / "step").exists()
