"""Whether an installed PyTorch counts as the newest of its channel."""

import subprocess
import sys

import pytest

from tools import newest_pytorch
from tools.newest_pytorch import shortfall


@pytest.mark.parametrize(
    ("channel", "installed", "newest"),
    [
        ("stable", "2.15.0", "2.15.0"),
        ("stable", "2.15.0+cpu", "2.15.0+cpu"),
        ("stable", "2.15.0", "2.15.0+cpu"),
        ("nightly", "2.16.0.dev20261118+cpu", "2.16.0.dev20261118+cpu"),
        ("nightly", "2.16.0.dev20261111", "2.16.0.dev20261118+cpu"),
        ("nightly", "2.16.0.dev20261130", "2.17.0.dev20261201"),
    ],
)
def test_the_newest_is_accepted(channel, installed, newest):
    assert shortfall(channel, installed, newest) is None


@pytest.mark.parametrize(
    ("channel", "installed", "newest", "reason"),
    [
        ("stable", "2.14.1+cpu", "2.15.0+cpu", "but the newest release is 2.15.0"),
        ("stable", "2.15.0", "2.15.1", "but the newest release is 2.15.1"),
        ("nightly", "2.15.0+cpu", "2.16.0.dev20261118+cpu", "wanted a nightly"),
        ("nightly", "2.15.0+cpu", "2.15.0+cpu", "wanted a nightly"),
        ("nightly", "2.16.0.dev20261110", "2.16.0.dev20261118", "8 days behind"),
    ],
)
def test_anything_older_is_named(channel, installed, newest, reason):
    assert reason in shortfall(channel, installed, newest)


@pytest.mark.parametrize(("installed", "code"), [("2.15.0", 0), ("2.14.1", 1)])
def test_exit_code_and_summary_tell_the_installed_version(monkeypatch, tmp_path, capsys, installed, code):
    monkeypatch.setattr(newest_pytorch.subprocess, "run", lambda *_, **__: None)  # installs nothing
    monkeypatch.setattr(newest_pytorch, "newest_version", lambda channel: "2.15.0")
    versions = {"torch": installed, "torchvision": "0.29.2", "commit": "abc"}
    monkeypatch.setattr(newest_pytorch, "installed_versions", lambda: versions)
    summary = tmp_path / "summary.md"
    monkeypatch.setattr(sys, "argv", ["newest_pytorch.py", "stable", "--summary", str(summary)])
    assert newest_pytorch.main() == code
    printed = capsys.readouterr().out
    assert f"torch: {installed}" in printed
    assert summary.read_text(encoding="utf-8").splitlines() == [f"- {line}" for line in printed.splitlines()]


def test_a_failed_installation_fails(monkeypatch, capsys):
    def fail(command, **_):
        raise subprocess.CalledProcessError(1, command)

    monkeypatch.setattr(newest_pytorch.subprocess, "run", fail)
    monkeypatch.setattr(sys, "argv", ["newest_pytorch.py", "nightly"])
    assert newest_pytorch.main() == 1
    assert capsys.readouterr().err.startswith("error: python -m pip install ... failed with 1")
