"""The choice of a precision: its rules, its errors, and the proof that it is in force."""

import contextlib
import platform
import re

import pytest
import torch
from torch import nn
from torch.torch_version import TorchVersion

from snippets import precision as module
from snippets.errors import UsageError, exit_with_one_line
from snippets.precision import NAMES, Precision, dtype_inside, main, pick_precision, prove, why_not_on_mps

CPU, MPS, CUDA = torch.device("cpu"), torch.device("mps"), torch.device("cuda")


@pytest.fixture
def versions(monkeypatch):
    """Return a function that makes PyTorch and the system report other versions."""

    def pretend(pytorch, macos=""):
        monkeypatch.setattr(torch, "__version__", TorchVersion(pytorch))
        monkeypatch.setattr(platform, "mac_ver", lambda: (macos, ("", "", ""), ""))

    return pretend


@pytest.fixture
def unproven(monkeypatch):
    """Skip the proof, which needs the device itself; the rules before it are what is tested."""
    monkeypatch.setattr(module, "prove", lambda precision: None)


def network() -> nn.Sequential:
    torch.manual_seed(0)
    convolution = [nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU()]
    return nn.Sequential(*convolution, nn.Flatten(), nn.Linear(4 * 64, 3))


def test_names_are_the_words_of_the_command_line():
    assert NAMES == ("auto", "fp32", "bf16", "fp16")


@pytest.mark.parametrize(
    ("name", "dtype"), [("fp32", torch.float32), ("bf16", torch.bfloat16), ("fp16", torch.float16)]
)
def test_each_format_is_in_force_on_the_cpu(name, dtype):
    precision = pick_precision(name, CPU)
    assert (precision.name, precision.dtype, precision.reason) == (name, dtype, "as requested")
    assert dtype_inside(precision) == dtype
    assert torch.is_autocast_enabled("cpu") is False  # the context was left again


@pytest.mark.parametrize("word", ["float16", "FP16", "", "16-mixed"])
def test_unknown_words_name_the_valid_ones(word):
    with pytest.raises(UsageError, match="choose auto, fp32, bf16, fp16"):
        pick_precision(word, CPU)


@pytest.mark.parametrize(
    ("device", "native", "expected"),
    [(CPU, True, "fp32"), (MPS, True, "fp32"), (CUDA, True, "bf16"), (CUDA, False, "fp32")],
)
def test_automatic_choice(monkeypatch, unproven, device, native, expected):
    def supported(including_emulation=True):
        return native or including_emulation

    monkeypatch.setattr(torch.cuda, "is_bf16_supported", supported)
    precision = pick_precision("auto", device)
    assert precision.name == expected
    assert precision.reason.startswith("automatic choice; ")
    assert ("emulate" in precision.reason) == (device == CUDA and not native)


@pytest.mark.parametrize(
    ("name", "pytorch", "macos", "obstacle"),
    [
        ("fp32", "1.12.1", "12.3", None),
        ("bf16", "2.5.1", "15.0", "needs PyTorch 2.6 on MPS"),
        ("bf16", "2.6.0", "15.0", None),
        ("bf16", "2.15.0", "13.7", "needs macOS 14 on MPS"),
        ("bf16", "2.15.0", "14.0", None),
        ("bf16", "2.15.0", "26.4.1", None),
        ("bf16", "2.13.0+cpu", "", None),  # a simulated device on another system
        ("fp16", "2.5.1", "15.0", "needs PyTorch 2.8 on MPS for the GradScaler"),
        ("fp16", "2.7.1", "15.0", "needs PyTorch 2.8 on MPS for the GradScaler"),
        ("fp16", "2.8.0", "13.0", None),
        ("fp16", "2.15.0+cu132", "15.0", None),
    ],
)  # fmt: skip
def test_rules_on_mps(versions, unproven, name, pytorch, macos, obstacle):
    versions(pytorch, macos)
    assert why_not_on_mps(name) == obstacle
    if obstacle is None:
        assert pick_precision(name, MPS).name == name
    else:
        with pytest.raises(UsageError, match=f"--precision {name} {obstacle}, and this is .*; use .*fp32$"):
            pick_precision(name, MPS)


def test_only_formats_that_work_are_offered_instead(versions, unproven):
    versions("2.7.1", "15.1")
    wrong = "--precision fp16 needs PyTorch 2.8 on MPS for the GradScaler"
    with pytest.raises(UsageError) as caught:
        pick_precision("fp16", MPS)
    assert str(caught.value) == f"{wrong}, and this is PyTorch 2.7.1 on macOS 15.1; use bf16 or fp32"
    versions("2.5.1", "15.1")
    with pytest.raises(UsageError, match=r"; use fp32$"):
        pick_precision("fp16", MPS)


def test_rules_for_mps_bind_no_other_device(versions):
    versions("2.4.1", "12.3")
    assert pick_precision("bf16", CPU).name == "bf16"


def test_an_autocast_that_stays_off_is_an_error(monkeypatch):
    monkeypatch.setattr(Precision, "autocast", lambda self: contextlib.nullcontext())
    wrong = "bf16 cannot be used on cpu: inside autocast a product is torch.float32; use fp32"
    with pytest.raises(UsageError, match=re.escape(wrong)):
        pick_precision("bf16", CPU)


def test_autocast_only_warns_of_unsupported_formats():
    """Why the proof is there: this context computes in float32, and nothing raises."""
    refused = Precision(CPU, torch.float64, "fp16", "not a format of autocast")
    with pytest.warns(UserWarning, match="Disabling autocast"):
        assert dtype_inside(refused) == torch.float32
    with pytest.warns(UserWarning), pytest.raises(UsageError, match="use bf16 or fp32"):
        prove(refused)


def test_a_device_that_fails_is_one_line():
    missing = Precision(CUDA, torch.float32, "fp32", "as requested")
    if torch.cuda.is_available():
        pytest.skip("this machine has the device that should be missing")
    with pytest.raises(UsageError, match="--precision fp32 cannot be used on cuda"):
        prove(missing)


def test_a_scaler_that_stays_off_is_an_error(monkeypatch):
    monkeypatch.setattr(Precision, "scaler", lambda self: torch.amp.GradScaler("cpu", enabled=False))
    with pytest.raises(UsageError, match="gradients cannot be scaled; use bf16 or fp32"):
        pick_precision("fp16", CPU)
    assert pick_precision("bf16", CPU).name == "bf16"  # needs none


@pytest.mark.parametrize("name", ["fp32", "bf16", "fp16"])
def test_training_computes_in_format_with_float32_parameters(name):
    precision = pick_precision(name, CPU)
    model, scaler = network(), precision.scaler()
    assert scaler.is_enabled() == (name == "fp16")
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    images = torch.randn(48, 1, 8, 8)
    labels = images.mean((1, 2, 3)).argsort().argsort() // 16  # three classes: dark, medium, bright
    losses = []
    for _ in range(25):
        with precision.autocast():
            scores = model(images)
            loss = nn.functional.cross_entropy(scores, labels)
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        losses.append(loss.item())
    assert scores.dtype == precision.dtype
    assert loss.dtype == torch.float32  # cross-entropy computes in float32 inside autocast, too
    assert {parameter.dtype for parameter in model.parameters()} == {torch.float32}
    assert {parameter.grad.dtype for parameter in model.parameters()} == {torch.float32}
    assert losses[-1] < losses[0] / 3


def test_a_scaler_continues_where_it_was_saved():
    precision = pick_precision("fp16", CPU)
    scaler, weight = precision.scaler(), nn.Parameter(torch.ones(1))
    optimizer = torch.optim.SGD([weight], lr=0.1)
    scaler.scale(weight.sum() * torch.inf).backward()
    scaler.step(optimizer)
    scaler.update()
    assert weight.item() == 1.0  # a step with infinite gradients is left out
    assert scaler.get_scale() == 2.0**15  # and the next one is scaled half as much
    fresh = precision.scaler()
    assert fresh.get_scale() == 2.0**16
    fresh.load_state_dict(scaler.state_dict())
    assert fresh.get_scale() == 2.0**15


def test_a_scaler_for_mps_may_be_off():
    """What the list for CUDA scripts advises: all calls of the scaler stay, and change nothing."""
    weights = [nn.Parameter(torch.ones(3)) for _ in range(2)]
    optimizers = [torch.optim.AdamW([weight], lr=0.1) for weight in weights]
    scaler = torch.amp.GradScaler("mps", enabled=False)
    for _ in range(3):
        scaler.scale(weights[0].square().sum()).backward()
        scaler.unscale_(optimizers[0])
        scaler.step(optimizers[0])
        scaler.update()
        weights[1].square().sum().backward()
        optimizers[1].step()
    assert scaler.get_scale() == 1.0
    scaler.load_state_dict(scaler.state_dict())
    torch.testing.assert_close(*weights, rtol=0, atol=0)


def test_command_line(capsys):
    assert exit_with_one_line(main, ["bf16", "cpu"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "precision: bf16 on cpu (as requested)",
        "a product of two float32 matrices inside autocast: torch.bfloat16",
        "gradient scaler: off",
    ]
    assert exit_with_one_line(main, ["fp16", "cpu"]) == 0
    assert "gradient scaler: on" in capsys.readouterr().out
    for wrong in (["half"], ["bf16", "gpu"], ["bf16", "cpu", "now"]):
        assert exit_with_one_line(main, wrong) == 2
        printed = capsys.readouterr()
        assert printed.out == ""
        assert printed.err.count("\n") == 1
