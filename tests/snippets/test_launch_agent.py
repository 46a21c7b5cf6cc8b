"""The property list is what launchd reads, and the command in it starts a training."""

import os
import plistlib
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from examples.monitoring.run_state import read_run
from snippets import launch_agent
from snippets.errors import exit_with_one_line

FAKE = Path(__file__).parents[1] / "examples" / "fake_training.py"
# The keys that are used, with the types that the manual launchd.plist(5) gives them.
TYPES = {
    "Label": str,
    "ProgramArguments": list,
    "EnvironmentVariables": dict,
    "WorkingDirectory": str,
    "StandardOutPath": str,
    "StandardErrorPath": str,
    "RunAtLoad": bool,
    "KeepAlive": dict,
    "ThrottleInterval": int,
    "ProcessType": str,
}


@pytest.fixture
def agent(tmp_path, monkeypatch, capsys):
    """Return the property list for a run with blanks and signs of XML in its name."""
    monkeypatch.chdir(tmp_path)
    assert launch_agent.main(["local.night", "runs/my <first> & night", str(FAKE), "--steps", "2"]) == 0
    return plistlib.loads(capsys.readouterr().out.encode())


def test_keys_and_types(agent, tmp_path):
    assert {key: type(value) for key, value in agent.items()} == TYPES
    assert all(isinstance(word, str) for word in agent["ProgramArguments"])
    assert agent["KeepAlive"] == {"Crashed": True}
    assert agent["StandardOutPath"] == str(tmp_path / "runs/my <first> & night.log")
    assert (tmp_path / "runs").is_dir()
    assert agent["ProgramArguments"][:4] == ["/usr/bin/caffeinate", "-i", sys.executable, "-u"]


def as_launchd_does(agent, folder):
    """Start the agent's command as launchd does: without a shell, a terminal and most variables."""
    command = agent["ProgramArguments"][2:]  # without caffeinate, which only macOS has
    with Path(agent["StandardOutPath"]).open("a") as log:
        return subprocess.run(
            command,
            cwd=agent["WorkingDirectory"],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env={"PATH": "/usr/bin:/bin", "HOME": os.environ.get("HOME", "/")},
            start_new_session=True,
            check=False,
        ).returncode


@pytest.mark.program
def test_its_command_trains_and_later_has_nothing_to_do(agent, tmp_path):
    assert as_launchd_does(agent, tmp_path) == 0
    assert read_run(tmp_path / "runs/my <first> & night").status == "finished"
    assert as_launchd_does(agent, tmp_path) == 0  # at the next login


@pytest.mark.skipif(not shutil.which("plutil"), reason="plutil belongs to macOS")
def test_plutil_agrees(agent, tmp_path):
    (tmp_path / "a.plist").write_bytes(plistlib.dumps(agent))
    subprocess.run(["plutil", "-lint", "a.plist"], check=True)


@pytest.mark.parametrize(
    ("words", "says"),
    [([], "say NAME RUN"), (["--help", "a", "b"], "say NAME RUN"), (["n", "r", "no.py"], "no script no.py")],
)
def test_wrong_words(words, says, capsys):
    assert exit_with_one_line(launch_agent.main, words) == 2
    assert says in capsys.readouterr().err
