"""Run recipes (`snippets/recipes/`) as readers do: pasted into a file, in an empty folder, without us."""

from __future__ import annotations

import contextlib
import io
import re
import runpy
import signal
import sys
from pathlib import Path

import pytest
import torch

from tools.checks.compare_output import compare
from tools.record_output import compared_part
from tools.recordings import FOLDER, read_recordings

ROOT = Path(__file__).resolve().parent.parent
RECIPES = {path.stem: path for path in sorted((ROOT / "snippets/recipes").glob("*.py"))}
OURS = ("snippets", "examples")  # what readers do not have

# What a recipe prints on MPS where that is more than another name of the device.
ON_MPS = {
    "compile": r"(compiled: same gradients as in eager mode|eager mode, because of \w+)\n",
    "memory": r"(with(out)? [\w ]+: tensors \d+ MB, held \d+ MB\n){2}",
    "missing_operators": (
        r"on the CPU instead: The operator 'aten::linalg_eig' is not currently implemented\n"
        r"eigenvalues: \[1\.382, 3\.618\]\n"
    ),
}


def run_recipe(path: Path, folder: Path) -> tuple[str, dict]:
    """Run a recipe in this process, in `folder`; return what it printed, and the names that it defined."""
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
    """Compare what a recipe printed on this machine with its recording, which was made on a CPU."""
    if name in ON_MPS and torch.backends.mps.is_available():
        return [] if re.fullmatch(ON_MPS[name], printed) else [f"on MPS, {name} printed {printed!r}"]
    entry = read_recordings(ROOT)[f"recipe_{name}"]
    recorded = (ROOT / FOLDER / f"recipe_{name}.txt").read_text(encoding="utf-8")
    texts = (compared_part(entry, without_device(text)) for text in (recorded, printed))
    return compare(*texts, entry["compare"])[1]


def without_device(text: str) -> str:
    """Return an output with one word for the devices of any machine."""
    return re.sub(r"\b(?:cpu, mps|cpu|mps|cuda)\b", "DEVICE", text)
