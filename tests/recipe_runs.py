"""Run recipes (`snippets/recipes/`) as readers do: pasted into a file, in an empty folder, without us."""

from __future__ import annotations

import contextlib
import io
import runpy
import signal
import sys
from pathlib import Path

import pytest
import torch

from examples.verifying import recipes

ROOT, RECIPES = recipes.ROOT, recipes.RECIPES
# These have no wheels for some machines.
NOT_EVERYWHERE = {"export_core_ml": "coremltools", "export_onnx": "onnxruntime"}
OURS = ("snippets", "examples")  # what readers do not have


def run_recipe(path: Path, folder: Path) -> tuple[str, dict]:
    """Run a recipe in this process, in `folder`; return what it printed, and the names that it defined."""
    if path.stem in NOT_EVERYWHERE:
        pytest.importorskip(NOT_EVERYWHERE[path.stem])
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    printed = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(printed):
        patch.chdir(folder)
        for name in {*OURS, *sys.modules}:
            if name.partition(".")[0] in OURS:
                patch.setitem(sys.modules, name, None)  # `import` of it fails
        try:
            names = runpy.run_path(str(path), run_name="__main__")
        finally:
            for number, handler in handlers.items():
                signal.signal(number, handler)
    return printed.getvalue(), names


def differences(name: str, printed: str) -> list[str]:
    """Compare what a recipe printed on this machine with its recording."""
    return recipes.differences(name, printed, torch.backends.mps.is_available())
