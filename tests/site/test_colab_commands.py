"""The commands for Colab, run here: /content is a temporary folder, and the digits stand in for CIFAR-10."""

import os
import signal
import subprocess
import time
import zipfile
from pathlib import Path

import pytest

from examples.programs.run_folder import read_metrics
from tools.checks.sections import all_sections
from tools.repository_passages import with_addresses
from tools.working_copy import environment, working_copy

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 240  # seconds, for a machine with much else to do
STAND_INS = {"--data cifar10 --download": "--width 4 --epochs 6", "sleep 900": "sleep 0.1"}

pytestmark = [pytest.mark.program, pytest.mark.unmeasured]


class Session:
    """A session of Colab: `content` is empty at its beginning but for the Drive, which outlives it."""

    def __init__(self, content, drive):
        self.content = content
        content.mkdir()
        (content / "drive").symlink_to(drive)

    def start(self, section, **variables):
        """Start the lines of a section as one cell; return the process, which leads a process group."""
        text = with_addresses(
            all_sections(ROOT)[0][f"snippets/shell/colab.sh:{section}"].text, "$ADDRESS", ""
        )
        assert section != "train" or all(shown in text for shown in STAND_INS)
        for shown, here in (STAND_INS | {"/content": str(self.content)}).items():
            text = text.replace(shown, here)
        return subprocess.Popen(
            ["bash", "-c", text],
            cwd=self.content,
            env=environment() | variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def run(self, section, **variables):
        """Run a section to its end; return its exit code and what it printed."""
        process = self.start(section, **variables)
        return process.wait(PATIENCE), process.communicate()[0]


@pytest.fixture
def drive(tmp_path):
    """Return a mounted Drive."""
    (tmp_path / "drive" / "MyDrive").mkdir(parents=True)
    return tmp_path / "drive"


@pytest.fixture
def session(tmp_path, drive):
    """Return a function that begins a session in which the project has been fetched already."""

    def begin(name, folder):
        begun = Session(tmp_path / name, drive)
        (begun.content / "mps-handbook").symlink_to(folder)
        return begun

    return begin


def test_the_project_comes_into_content(tmp_path, drive):
    original = tmp_path / "original"
    original.mkdir()
    (original / "README.md").write_text("read me\n")
    for command in (
        ["init", "-q"],
        ["add", "."],
        ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "a"],
    ):
        subprocess.run(["git", *command], cwd=original, check=True)
    cloned = Session(tmp_path / "cloned", drive)
    code, printed = cloned.run("clone", ADDRESS=str(original))
    assert code == 0, printed
    unpacked = Session(tmp_path / "unpacked", drive)
    with zipfile.ZipFile(unpacked.content / "mps-handbook.zip", "w") as archive:
        archive.write(original / "README.md", "mps-handbook/README.md")
    code, printed = unpacked.run("unzip")
    assert code == 0, printed
    for begun in (cloned, unpacked):
        assert (begun.content / "mps-handbook" / "README.md").read_text() == "read me\n"


@pytest.mark.long
def test_packages_that_are_there_stay_as_they_are(session):
    """Without any index, pip fails as soon as it wants to fetch something, such as another PyTorch."""
    with working_copy(ROOT) as folder:
        code, printed = session("first", folder).run("install", PIP_NO_INDEX="1")
    assert code == 0, printed
    assert "already satisfied: scikit-learn" in printed and "Nothing is wrong." in printed
    assert "satisfied: torch" not in printed, "one of the packages asks for PyTorch"


def test_without_the_drive_nothing_is_trained(session, drive):
    (drive / "MyDrive").rmdir()
    with working_copy(ROOT) as folder:
        code, printed = session("first", folder).run("train")
        assert not (folder / "runs").exists()
    assert code != 0
    assert "MyDrive" in printed


@pytest.mark.long
def test_second_session_continues_where_the_first_ended(session, drive):
    kept = drive / "MyDrive" / "runs" / "colab"
    with working_copy(ROOT) as folder:
        first = session("first", folder).start("train")
        try:
            deadline = time.monotonic() + PATIENCE
            while not whole_checkpoint(kept, folder) and time.monotonic() < deadline:
                time.sleep(0.01)
        finally:
            os.killpg(first.pid, signal.SIGKILL)  # as Colab ends a session: without a warning
        assert first.wait(PATIENCE) == -signal.SIGKILL
    with working_copy(ROOT) as folder:
        code, printed = session("second", folder).run("train")
    assert code == 0, printed
    assert "continuing after step" in printed
    assert (kept / "summary.json").exists()
    steps = [values["step"] for values in read_metrics(kept / "metrics.jsonl")]
    assert steps == sorted(steps) and steps[-1] == 6 * 22
    assert "test_accuracy" in read_metrics(kept / "metrics.jsonl")[-1]


def whole_checkpoint(kept, folder):
    """Return whether the Drive has a checkpoint as long as that of the session."""
    copies = [path / "checkpoints" / "last.pt" for path in (kept, folder / "runs" / "colab")]
    return all(path.exists() for path in copies) and len({path.stat().st_size for path in copies}) == 1
