"""A training on one page, run on the CPU for two epochs, and compared with the full program's run."""

import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch

from tests.examples.program_runs import Outcome


def trains_the_same(single_file: ModuleType, run: Outcome, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Run the file in this folder and compare its weights bit by bit with those of `run`; return its names.

    The weights are in the only file that it writes.
    """
    text = Path(single_file.__file__).read_text(encoding="utf-8")
    text, count = re.subn(r"(?m)^EPOCHS = \d+", "EPOCHS = 2", text)
    assert count == 1
    monkeypatch.setattr("sys.argv", ["single_file.py"])
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    names = {"__name__": "__main__"}
    exec(compile(text, single_file.__file__, "exec"), names)  # the lines keep their numbers
    (weights,) = Path.cwd().glob("*.pt")
    found, expected = torch.load(weights), run.last["model"]
    assert found.keys() == expected.keys()
    assert [name for name in expected if not torch.equal(found[name], expected[name])] == []
    return names
