"""The probe of the Apple GPU on devices that every machine has, and the start-up file that hides MPS."""

import json
import os
import runpy
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest
import torch

from tools.measuring import probe_mps
from tools.measuring.probe_mps import why_unusable

pytestmark = pytest.mark.program

EVERY_OPTIMIZER = Path(__file__).with_name("every_optimizer.py")


@pytest.mark.long
def test_a_device_that_trains_like_the_cpu_is_usable():
    assert why_unusable("cpu", available=True) is None


@pytest.mark.long
def test_available_but_failing_device_is_unusable():
    # PyTorch's meta device accepts every step and has no numbers: a stand-in for a GPU without memory.
    reason = why_unusable("meta", available=True)
    assert reason.startswith("is_available() is True, but training fails: ")
    assert "meta" in reason


@pytest.mark.long
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


@pytest.mark.parametrize(
    ("ci", "environment", "reason"),
    [
        ("", "clone/.venv", "CI is not 'true'"),
        ("false", "clone/.venv", "CI is not 'true'"),
        ("true", "elsewhere/.venv", "elsewhere/.venv is not a virtual environment inside "),
        ("true", "clone-of-mine/.venv", "clone-of-mine/.venv is not a virtual environment inside "),
        ("true", "clone/python", "clone/python is not a virtual environment inside "),
    ],
)
def test_only_the_environment_of_a_ci_run_is_changed(tmp_path, monkeypatch, capsys, ci, environment, reason):
    monkeypatch.setenv("CI", ci)
    monkeypatch.setattr(probe_mps, "ROOT", tmp_path / "clone")
    monkeypatch.setattr(sys, "prefix", str(tmp_path / environment))
    monkeypatch.setattr(sys, "base_prefix", str(tmp_path / "clone/python"))
    monkeypatch.setattr(probe_mps, "hide_mps", lambda folder: pytest.fail("it was changed"))
    monkeypatch.setattr(sys, "argv", ["probe_mps.py", "--hide-if-unusable"])
    assert probe_mps.main() == 2
    printed, error = capsys.readouterr()
    assert printed == ""
    assert error.count("\n") == 1
    assert reason in error
    assert "make clean" in error


# Start-up file of an environment whose PyTorch reports an MPS that cannot compute, as on a virtual Mac.
CLAIM = """
from importlib.machinery import ExtensionFileLoader

load = ExtensionFileLoader.exec_module


def load_and_claim(self, module):
    load(self, module)
    if module.__name__ == "torch._C" and not module._has_mps:
        module._has_mps = True
        module._mps_is_available = lambda: True
        module._mps_get_default_generator = module.Generator
        module._accelerator_getAccelerator = lambda: module.device("mps")


ExtensionFileLoader.exec_module = load_and_claim
"""


@pytest.fixture
def clone(tmp_path) -> Path:
    """Make a folder with the probe and with an environment whose PyTorch claims MPS."""
    (tmp_path / "tools/measuring").mkdir(parents=True)
    shutil.copy(probe_mps.__file__, tmp_path / "tools/measuring")
    venv.create(tmp_path / ".venv", symlinks=True)
    (packages,) = tmp_path.glob(".venv/lib/python*/site-packages")
    (packages / "claim_mps.py").write_text(CLAIM, encoding="utf-8")
    # The path adds this environment's packages without its start-up files: MPS may be hidden here, too.
    lines = [str(Path(torch.__file__).parents[1]), "import claim_mps"]
    (packages / "claim_mps.pth").write_text("\n".join(lines), encoding="utf-8")
    return tmp_path


def run(clone: Path, *arguments: str | Path) -> str:
    """Run the clone's Python as a CI run does; return what it printed."""
    command = [clone / ".venv/bin/python", *arguments]
    done = subprocess.run(
        command, env=os.environ | {"CI": "true"}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.skipif(torch.backends.mps.is_available(), reason="this GPU computes: nothing to hide")
@pytest.mark.long
def test_hidden_mps_is_denied_everywhere_and_every_optimizer_trains(clone):
    claimed = json.loads(run(clone, EVERY_OPTIMIZER, "answers"))["answers"]
    assert claimed == {
        "torch.backends.mps.is_available": True,
        "torch.mps.is_available": True,
        "torch.mps.device_count": 1,
        "torch.accelerator.is_available": True,
        "torch.accelerator.device_count": 1,
        "torch.accelerator.current_accelerator": "mps",
    }
    printed = run(clone, clone / "tools/measuring/probe_mps.py", "--hide-if-unusable")
    assert "MPS is NOT tested here, only the CPU: is_available() is True, but training fails: " in printed
    hidden = json.loads(run(clone, EVERY_OPTIMIZER, "answers", "losses", "compiled"))
    assert not any(hidden["answers"].values())
    assert hidden["answers"].keys() == claimed.keys()
    assert hidden["compiled"] is False
    expected = runpy.run_path(str(EVERY_OPTIMIZER))["losses"]()
    assert {"SGD", "Adam", "AdamW", "LBFGS", "SparseAdam"} < expected.keys()
    assert hidden["losses"] == expected
