"""The comparison of this example's network: right on the CPU, and an error where a device is wrong."""

import pytest
import torch

from examples.cifar_optimizers import compare_devices as program
from snippets import compare_devices
from snippets.errors import exit_with_one_line


@pytest.mark.program
def test_the_cpu_agrees_with_itself_and_nothing_is_missing(capsys):
    assert exit_with_one_line(program.main, ["--device", "cpu"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "device: cpu (as requested)"
    assert lines[1] == f"PyTorch {torch.__version__}; ResNet-18, width 8; 4 batches of 16 digits"
    assert lines[2].split() == ["tensor", "error", "on", "CPU", "allowed"]
    assert lines[-2] == "cpu, float32: all 64 tensors are right within rounding"
    assert lines[-1] == "operators without an MPS kernel: none"
    errors = [float(line.split()[-3]) for line in lines[3:-2]]
    assert len(errors) == 5 and all(0 < error < 1e-3 for error in errors)


@pytest.fixture
def wrong_device(monkeypatch):
    """Spoil the last of the three passes over each batch, the device's: one gradient is 1 % too large."""
    real, calls = compare_devices.one_pass, []

    def one_pass(*arguments):
        calls.append(arguments)
        results = real(*arguments)
        if len(calls) % 3 == 0:
            results["gradient of head.weight"] *= 1.01
        return results

    monkeypatch.setattr(compare_devices, "one_pass", one_pass)


@pytest.mark.program
def test_a_wrong_gradient_is_an_error_that_names_it(wrong_device, capsys):
    assert exit_with_one_line(program.main, ["--device", "cpu"]) == 1
    printed = capsys.readouterr()
    assert "WRONG: 1 of 64 tensors" in printed.out
    assert printed.err == "error: cpu computes gradient of head.weight wrongly: train with --device cpu\n"


def test_missing_operators_are_an_error_on_mps_only(monkeypatch, capsys):
    comparison = compare_devices.Comparison(
        torch.device("mps"), torch.float32, [compare_devices.Difference("loss", 0.0, 0.0, 1e-6)]
    )
    monkeypatch.setattr(program, "compare", lambda data, width, precision: (comparison, {"mode": 3}))
    assert exit_with_one_line(program.main, ["--device", "cpu"]) == 0
    assert capsys.readouterr().out.endswith("operators without an MPS kernel: mode\n")
    monkeypatch.setattr(program, "pick_device", lambda wanted: (torch.device("mps"), "as requested"))
    monkeypatch.setattr(program, "pick_precision", lambda wanted, device: None)
    assert exit_with_one_line(program.main, ["--device", "mps"]) == 1
    assert capsys.readouterr().err == "error: MPS lacks mode: train with --device cpu\n"


def test_mistakes_are_one_line(capsys):
    for argv in (["--device", "gpu"], ["--data", "nowhere"], ["--batch"]):
        assert exit_with_one_line(program.main, argv) == 2
        assert capsys.readouterr().err.count("\n") == 1
