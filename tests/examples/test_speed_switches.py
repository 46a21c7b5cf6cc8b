"""Switches of speed change values by rounding alone, and a run continues with others than it began with."""

from contextlib import nullcontext
from types import SimpleNamespace

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from examples.benchmarking.levels import Level
from examples.cifar_optimizers import train as cifar
from examples.cifar_optimizers.data_sources import load_digits
from examples.cifar_optimizers.image_data import FromPixels, draw_moves
from examples.programs import speed
from examples.programs.speed import set_speed
from snippets.checkpoints import TrainingState
from snippets.compile_safely import compile_or_eager
from snippets.errors import UsageError

CPU, CUDA, MPS = map(torch.device, ("cpu", "cuda", "mps"))
FORMATS = {"contiguous": torch.contiguous_format, "channels last": torch.channels_last}


def switched(**on):
    """Return options with these switches on."""
    return SimpleNamespace(**on)


def assert_close(found, expected):
    """Check that two states agree but for rounding."""
    assert found.keys() == expected.keys()
    for name, tensor in expected.items():
        torch.testing.assert_close(found[name], tensor, rtol=1e-4, atol=1e-5, msg=name)


@pytest.mark.two_for_all
def test_a_fused_optimizer_learns_the_same(undisturbed, tiny, without_curves):
    """By its losses: the gradient of a key's bias is rounding alone, of which Adam makes whole steps."""
    usual, fused = (undisturbed(tiny(max_steps=4, **on)).metrics[-1] for on in ({}, {"fused": True}))
    losses = [name for name in usual if name.endswith("loss")]
    assert losses
    assert [fused[name] for name in losses] == pytest.approx([usual[name] for name in losses], rel=1e-5)


# ---- Memory format ----


def trained(steps, memory_format, fused, captured=None):
    """Return the state after some steps of a small convolution, begun anew or from a captured state."""
    torch.manual_seed(0)
    model = nn.Conv2d(3, 4, 3).to(memory_format=FORMATS[memory_format])
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1, fused=fused or None)
    state = TrainingState(model, [optimizer], [], CPU)
    if captured is not None:
        state.restore(captured)
    for number in range(steps):
        images = torch.randn(2, 3, 8, 8, generator=torch.Generator().manual_seed(number))
        model(images).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
    return state


@pytest.mark.parametrize("memory_format", FORMATS)
@pytest.mark.parametrize("fused", [False, True])
@pytest.mark.parametrize("was_fused", [False, True])
@pytest.mark.parametrize("was", FORMATS)
def test_moments_take_the_format_of_their_weights(was, was_fused, memory_format, fused):
    """With the strides that were saved, a fused step would mix up the moments: 0.2 of a weight."""
    first = trained(2, was, was_fused).capture()
    state = trained(2, memory_format, fused, first)
    expected = trained(2, "contiguous", False, trained(2, "contiguous", False).capture())
    assert_close(state.model.state_dict(), expected.model.state_dict())
    (group,) = state.optimizers[0].param_groups
    assert bool(group["fused"]) is fused


def test_channels_last_gives_the_same_gradients(monkeypatch, one_thread):
    """Without the kinks of ReLU, at which rounding picks a side, and of a width that the CPU survives."""
    monkeypatch.setitem(speed.OFF, "channels_last", {})
    monkeypatch.setattr(F, "relu", F.softplus)
    monkeypatch.setattr(nn.ReLU, "forward", lambda _, x: F.softplus(x))
    gradients = []
    for channels_last in (False, True):
        task = cifar.PROGRAM.prepare({"device": "cpu", "channels_last": channels_last, "max_steps": 2})
        filters = [weight for weight in task.state.model.parameters() if weight.ndim == 4]
        assert any(not weight.is_contiguous() for weight in filters) is channels_last
        torch.manual_seed(3)
        part, _ = next(iter(task.parts(next(iter(task.batches(0, 0))))))
        task.measures(part, task.network)[0].backward()
        gradients.append({name: weight.grad for name, weight in task.state.model.named_parameters()})
    norms = [sum(gradient.norm() ** 2 for gradient in each.values()).sqrt() for each in gradients]
    differences = [gradients[0][name] - gradients[1][name] for name in gradients[0]]
    assert sum(difference.norm() ** 2 for difference in differences).sqrt() < 1e-4 * norms[0]
    assert norms[0] == pytest.approx(norms[1].item(), rel=1e-4)


# ---- Compiled ----


@pytest.mark.slow
def test_augmentation_and_network_are_one_graph(one_thread):
    data = load_digits(8)
    layers = nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.Flatten(), nn.Linear(4 * 6 * 6, 10)
    network = FromPixels(nn.Sequential(*layers), data)
    images, moves = data.train_images[:8], draw_moves(data, data.train_images[:8])

    def loss(network):
        return F.cross_entropy(network(images, moves), data.train_labels[:8])

    compiled, said = compile_or_eager(network, loss, backend="aot_eager")
    assert "into 1 graph" in said
    assert loss(compiled).item() == pytest.approx(loss(network).item(), rel=1e-4)


# ---- Where they are on ----


@pytest.mark.parametrize(
    ("device", "on", "tf32", "said"),
    [
        (CUDA, {"tf32": True, "fused": True}, "high", "fused, tf32"),
        (CUDA, {"compile": True, "graphs": True}, "highest", "graphs"),
        (CUDA, {}, "highest", None),
        (CPU, {"tf32": True}, None, "tf32 (off: only NVIDIA GPUs have it)"),
        (
            CPU,
            {"channels_last": True},
            None,
            "channels-last (off: the backward pass of some convolutions can end the process)",
        ),
        (CUDA, {"search": True}, "highest", "search"),
        (MPS, {"search": True}, None, "search (off: only NVIDIA GPUs have it)"),
        (MPS, {"channels_last": True}, None, "channels-last (off: some gradients are wrong with it on MPS)"),
    ],
)
def test_report_says_which_are_on(monkeypatch, device, on, tf32, said):
    asked = []
    monkeypatch.setattr(torch, "set_float32_matmul_precision", asked.append)
    assert set_speed(switched(**on), "fp32", device).get("speed") == said
    assert asked == [tf32] * (device == CUDA)


@pytest.mark.parametrize(
    ("device", "on", "searches"),
    [
        (CUDA, {"search": True}, True),
        (CUDA, {"search": False}, False),  # also after a training that searched
        (CUDA, {}, None),  # left as it is
        (CPU, {"search": True}, None),
    ],
)
def test_only_its_switch_lets_cudnn_search(monkeypatch, device, on, searches):
    cudnn = SimpleNamespace(benchmark=None)
    monkeypatch.setattr(torch.backends, "cudnn", cudnn)
    monkeypatch.setattr(torch, "set_float32_matmul_precision", lambda _: None)
    set_speed(switched(**on), "fp32", device)
    assert cudnn.benchmark is searches


@pytest.mark.parametrize(
    ("release", "on", "precision", "device", "message"),
    [
        ("2.15.0", {"graphs": True}, "fp32", CUDA, r"^--graphs repeats what was compiled: add --compile$"),
        (
            "2.12.0",
            {"fused": True},
            "fp16",
            MPS,
            r"^--fused ignores the scaler of fp16 on MPS before",
        ),
    ],
)
def test_what_cannot_be_together_is_refused(monkeypatch, release, on, precision, device, message):
    monkeypatch.setattr(torch, "__version__", torch.torch_version.TorchVersion(release))
    with pytest.raises(UsageError, match=message):
        set_speed(switched(**on), precision, device)
    assert set_speed(switched(**on, compile=True), "bf16", device)


@pytest.mark.parametrize(("device", "refused"), [(CUDA, True), (CPU, False)])
def test_cuda_graphs_sum_no_gradients(monkeypatch, device, refused):
    monkeypatch.setattr(torch, "set_float32_matmul_precision", lambda _: None)
    options = switched(graphs=True, compile=True, accumulate=2)
    expected = pytest.raises(UsageError, match=r"^--graphs cannot be used with --accumulate; leave one out$")
    with expected if refused else nullcontext():
        assert set_speed(options, "fp32", device)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--optimizer", "lion", "--fused"], "^--fused is for --optimizer sgd, adam, adamw and muon; leave"),
        (["--optimizer", "muon", "--channels-last"], "^--optimizer muon cannot train channels-last filters"),
    ],
)
def test_optimizers_refuse_what_they_cannot(monkeypatch, words, message):
    monkeypatch.setitem(speed.OFF, "channels_last", {})
    with pytest.raises(UsageError, match=message):
        cifar.PROGRAM.prepare(cifar.PROGRAM.read_command_line([*words, "--device", "cpu"]))


def test_levels_of_a_device_without_a_switch_cannot_run():
    assert Level("cpu", switches=("tf32",)).obstacle == "tf32: only NVIDIA GPUs have it"
    assert Level("cpu", switches=("fused",)).obstacle is None
