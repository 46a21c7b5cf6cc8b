"""The two commands for two machines, started on one."""

import socket
import subprocess
from pathlib import Path

import pytest

from examples.programs.run_folder import read_metrics
from tools.checks.sections import all_sections
from tools.working_copy import environment, working_copy

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 240  # seconds, for a machine with much else to do

pytestmark = [pytest.mark.program, pytest.mark.long, pytest.mark.unmeasured]


def commands():
    """Return both commands, at a port that is free here."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = str(taken.getsockname()[1])
    for name in ("first", "second"):
        text = all_sections(ROOT)[0][f"snippets/shell/several_nodes.sh:{name}"].text
        assert "29511" in text
        yield text.replace("29511", port)


def test_two_commands_make_one_run():
    with working_copy(ROOT) as folder:
        started = [
            subprocess.Popen(
                ["bash", "-c", command],
                cwd=folder,
                env=environment(),
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
            for command in commands()
        ]
        printed = [process.communicate(timeout=PATIENCE)[0] for process in started]
        assert [process.returncode for process in started] == [0, 0], "\n".join(printed)
        assert "processes  2, 32 of 64 samples each" in printed[0]
        assert "train loss" not in printed[1], "the second command prints nothing of its own"
        assert read_metrics(folder / "runs" / "two_machines" / "metrics.jsonl")
