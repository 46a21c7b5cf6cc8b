"""The first script that a reader runs, on the simulated MPS device."""

import runpy
from pathlib import Path

FIRST_RUN = Path(__file__).resolve().parents[2] / "examples" / "first_run.py"


def test_the_first_run(capsys, monkeypatch, tmp_path):
    """It is a script without functions, so it runs as one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", [FIRST_RUN.name])
    runpy.run_path(str(FIRST_RUN), run_name="__main__")
    out = capsys.readouterr().out
    assert "mps" in out
    assert "held-out digits read correctly" in out
