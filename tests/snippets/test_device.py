"""The choice of a device: its order, its reasons, its errors, and the mistakes shown next to it."""

import platform
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from snippets import device_mistakes
from snippets.device import forward_on, is_mps, main, pick_accelerator, pick_device, why_not_cuda, why_not_mps
from snippets.errors import UsageError, exit_with_one_line
from tools.read_yaml import read_yaml

COMPUTED = Path(__file__).resolve().parents[2] / "docs/data/computed/device.yaml"


@pytest.fixture
def machine(monkeypatch):
    """Return a function that makes PyTorch believe in a machine with or without each accelerator."""

    def describe(cuda=False, mps=False, built=False, system="Linux", macos="", cuda_version=None):
        monkeypatch.setattr(torch.cuda, "is_available", lambda: cuda)
        monkeypatch.setattr(torch.version, "cuda", cuda_version)
        monkeypatch.setattr(torch.backends.mps, "is_available", lambda: mps)
        monkeypatch.setattr(torch.backends.mps, "is_built", lambda: built or mps)
        monkeypatch.setattr(platform, "system", lambda: system)
        monkeypatch.setattr(platform, "mac_ver", lambda: (macos, ("", "", ""), ""))

    return describe


@pytest.mark.parametrize(
    ("cuda", "mps", "expected"),
    [(True, True, "cuda"), (True, False, "cuda"), (False, True, "mps"), (False, False, "cpu")],
)
def test_automatic_choice_prefers_cuda_then_mps(machine, cuda, mps, expected):
    machine(cuda=cuda, mps=mps)
    device, reason = pick_device()
    assert device.type == expected
    assert reason.startswith("automatic choice")
    assert ("no CUDA: " in reason) == (expected != "cuda")
    assert ("no MPS: " in reason) == (expected == "cpu")


def test_the_choice_on_a_mac(machine):
    machine(mps=True)
    assert read_yaml(COMPUTED)["on_a_mac"] == "{} ({})".format(*pick_device())


@pytest.mark.parametrize("name", ["cuda", "mps", "cpu"])
def test_a_requested_device_is_obeyed(machine, name):
    machine(cuda=True, mps=True)
    assert pick_device(name) == (torch.device(name), "as requested")


def test_no_mps_outside_macos(machine):
    machine(system="Linux")
    assert why_not_mps() == "only Macs have it, and this is Linux"
    with pytest.raises(UsageError, match="device 'mps' cannot be used: only Macs have it, and this is Linux"):
        pick_device("mps")


def test_no_mps_in_a_build_without_it(machine):
    machine(system="Darwin", macos="15.1")
    assert "was built without MPS" in why_not_mps()


def test_no_mps_on_a_mac_without_usable_gpu(machine):
    machine(system="Darwin", built=True, macos="15.1")
    assert "this PyTorch has MPS, but finds no usable GPU on macOS 15.1" in why_not_mps()


def test_mps_has_no_obstacle_where_pytorch_reports_it(machine):
    machine(mps=True, system="Darwin")
    assert why_not_mps() is None


def test_reasons_without_cuda(machine):
    machine(cuda_version="13.2")
    assert why_not_cuda() == "no usable NVIDIA GPU"
    machine(cuda_version=None)
    assert "was built without CUDA" in why_not_cuda()


@pytest.mark.parametrize("word", ["gpu", "MPS", "", "mps:0"])
def test_unknown_device_names_the_valid_ones(word):
    with pytest.raises(UsageError, match="choose auto, cuda, mps, cpu"):
        pick_device(word)


def test_command_line(capsys):
    assert exit_with_one_line(main, ["cpu"]) == 0
    assert capsys.readouterr().out == "device: cpu (as requested)\n"
    assert exit_with_one_line(main, ["metal"]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    assert exit_with_one_line(main, ["cpu", "mps"]) == 2


@pytest.mark.program
def test_command_line_as_a_module():
    command = [sys.executable, "-m", "snippets.device"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == f"device: {pick_device()[0]} ({pick_device()[1]})\n"


def test_accelerator_asks_for_availability_first(monkeypatch):
    monkeypatch.setattr(torch.accelerator, "is_available", lambda: False)
    monkeypatch.setattr(torch.accelerator, "current_accelerator", lambda: torch.device("mps"))
    assert pick_accelerator() == torch.device("cpu")
    monkeypatch.setattr(torch.accelerator, "is_available", lambda: True)
    assert pick_accelerator() == torch.device("mps")


def test_devices_are_compared_by_type():
    assert is_mps(torch.device("mps"))
    assert is_mps(torch.device("mps:0"))
    assert not is_mps(torch.device("cpu"))
    assert device_mistakes.compare_with_string() is False


def test_forward_on_moves_module_and_batch():
    model = torch.nn.Linear(3, 2)
    images = torch.zeros(4, 3)
    outputs = forward_on(torch.device("meta"), model, images)
    assert outputs.device.type == "meta"
    assert model.weight.device.type == "meta"  # modules move in place
    assert images.device.type == "cpu"  # tensors do not


def test_torch_device_never_raises_for_mps():
    assert device_mistakes.pick_by_exception() == torch.device("mps")


def test_to_without_assignment_moves_nothing():
    images = torch.zeros(2)
    assert device_mistakes.forget_the_copy(images, torch.device("meta")).device.type == "cpu"
    assert images.to(images.device) is images  # already there: no copy


@pytest.mark.program
def test_fallback_variable_does_not_choose_the_device():
    chosen = str(pick_device()[0])
    assert device_mistakes.device_with_fallback("1") == chosen
    assert device_mistakes.device_with_fallback("0") == chosen
