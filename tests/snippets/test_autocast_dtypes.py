"""The formats inside autocast: asked of the CPU itself, and of MPS through fake tensors elsewhere."""

import pytest
import torch

from snippets import autocast_dtypes as module
from snippets.autocast_dtypes import dtypes_inside, main
from snippets.errors import exit_with_one_line

LOW = {torch.bfloat16: "bfloat16", torch.float16: "float16"}


@pytest.mark.parametrize("low", LOW)
def test_mps_rounds_products_and_keeps_sums_losses_and_norms(low):
    found = dtypes_inside("mps", low)
    for name in ("linear (float32 input)", "conv2d (float32 input)", "matmul", "relu", "mean", "rms_norm"):
        assert found[name] == low
    for name in ("sum", "exp", "softmax", "layer_norm", "group_norm", "mse_loss", "x + float32"):
        assert found[name] == torch.float32
    assert set(found.values()) == {low, torch.float32}


def test_the_cpu_decides_otherwise():
    found = dtypes_inside("cpu", torch.bfloat16)
    assert found["linear (float32 input)"] == torch.bfloat16
    assert found["softmax"] == found["layer_norm"] == torch.bfloat16
    assert found["mse_loss"] == torch.float32
    assert not torch.is_autocast_enabled("cpu")


def test_command_line(capsys, monkeypatch):
    assert exit_with_one_line(main, []) == 0
    by_default = capsys.readouterr().out
    assert exit_with_one_line(main, ["mps", "bf16"]) == 0
    assert capsys.readouterr().out == by_default
    assert dict(line.rsplit(maxsplit=1) for line in by_default.splitlines())["softmax"] == "float32"
    monkeypatch.setattr(module, "why_not_cuda", lambda: "no usable NVIDIA GPU")
    for wrong in (["gpu"], ["mps", "half"], ["mps", "bf16", "now"], ["cuda"]):
        assert exit_with_one_line(main, wrong) == 2
        printed = capsys.readouterr()
        assert printed.out == ""
        assert printed.err.count("\n") == 1
