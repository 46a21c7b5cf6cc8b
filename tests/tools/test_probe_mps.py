"""The probe of the Apple GPU on devices that every machine has, and the start-up file that hides MPS."""

import subprocess
import sys

import pytest

from tools import probe_mps
from tools.probe_mps import hide_mps, why_unusable


def test_a_device_that_trains_like_the_cpu_is_usable():
    assert why_unusable("cpu", available=True) is None


def test_a_device_that_claims_to_be_there_and_fails_is_unusable():
    # PyTorch's meta device accepts every step and has no numbers: a stand-in for a GPU without memory.
    reason = why_unusable("meta", available=True)
    assert reason.startswith("is_available() is True, but training fails: ")
    assert "meta" in reason


def test_wrong_numbers_are_unusable(monkeypatch):
    monkeypatch.setattr(
        probe_mps, "train_three_steps", lambda device: 123.0
    )  # not in the trial's own process
    assert "where the CPU has 123" in why_unusable("cpu", available=True)


def test_a_hanging_device_is_unusable(monkeypatch):
    monkeypatch.setattr(probe_mps, "TRIAL_SECONDS", 0.01)
    assert "more than 0.01 s" in why_unusable("cpu", available=True)


def test_a_device_that_pytorch_denies_is_not_tried():
    assert why_unusable("nonsense", available=False) == "torch.backends.mps.is_available() is False"


@pytest.fixture
def torch_with_mps(tmp_path):
    """Make a folder with a package that looks like PyTorch on a Mac to whoever asks for MPS."""
    for module in ("backends/mps", "accelerator"):
        (tmp_path / "torch" / module).mkdir(parents=True)
        file = tmp_path / "torch" / module / "__init__.py"
        file.write_text("def is_available():\n    return True\n", encoding="utf-8")
    (tmp_path / "torch/__init__.py").write_text(
        "import torch.accelerator, torch.backends.mps\n", encoding="utf-8"
    )
    return tmp_path


@pytest.mark.parametrize(("hidden", "expected"), [(False, "True True"), (True, "False False")])
def test_hidden_mps_is_denied_in_every_program_of_the_environment(tmp_path, torch_with_mps, hidden, expected):
    site_packages = tmp_path / "site-packages"
    site_packages.mkdir()
    if hidden:
        hide_mps(site_packages)
    program = (
        "import site, sys; site.addsitedir(sys.argv[1]); sys.path.insert(0, sys.argv[2]); import torch; "
        "print(torch.backends.mps.is_available(), torch.accelerator.is_available())"
    )
    command = [sys.executable, "-c", program, str(site_packages), str(torch_with_mps)]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert result.stdout.strip() == expected
