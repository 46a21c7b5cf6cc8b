"""The version of macOS, on a made-up Mac whose Python is told an older one."""

import platform

import pytest

from examples.programs.report import provenance
from snippets import device
from snippets.device import macos_version

SW_VERS = """#!/bin/sh
[ "$SYSTEM_VERSION_COMPAT" = 0 ] && [ "$1" = -productVersion ] && echo 26.1 || echo 16.1
"""


@pytest.fixture
def mac(monkeypatch, tmp_path):
    """Return the folder of programs of a Mac with macOS 26.1 whose Python was built for an older one."""
    monkeypatch.setattr(platform, "mac_ver", lambda: ("16.1", ("", "", ""), "arm64"))
    monkeypatch.setattr(platform, "system", lambda: "Darwin")
    monkeypatch.setattr(platform, "machine", lambda: "arm64")
    monkeypatch.setenv("SYSTEM_VERSION_COMPAT", "1")  # as an old program may leave it to its children
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    (tmp_path / "sw_vers").write_text(SW_VERS, encoding="utf-8")
    (tmp_path / "sw_vers").chmod(0o755)
    return tmp_path


@pytest.mark.program
def test_the_system_is_asked_and_not_python(mac, monkeypatch):
    assert macos_version() == "26.1"
    assert provenance()["system"] == "macOS 26.1 arm64"
    monkeypatch.setattr(device.torch.backends.mps, "is_available", lambda: False)
    monkeypatch.setattr(device.torch.backends.mps, "is_built", lambda: True)
    assert "no usable GPU on macOS 26.1: " in device.why_not_mps()


@pytest.mark.program
@pytest.mark.parametrize("text", ["#!/bin/sh\nexit 1\n", "#!/bin/sh\n"])
def test_without_an_answer_python_is_believed(mac, text):
    (mac / "sw_vers").write_text(text, encoding="utf-8")
    assert macos_version() == "16.1"


def test_nothing_is_started_elsewhere(monkeypatch):
    monkeypatch.setattr(platform, "mac_ver", lambda: ("", ("", "", ""), ""))
    assert macos_version() == ""
