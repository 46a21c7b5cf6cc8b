"""The port to MLX computes what PyTorch computes: outputs, losses, weights after training. On the CPU."""

import re
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

mx = pytest.importorskip("mlx.core", reason="MLX is not installed: no wheel for this machine")
import mlx.nn  # noqa: E402
import mlx.optimizers  # noqa: E402
import mlx.utils  # noqa: E402

from snippets import compare_with_mlx as compare  # noqa: E402
from snippets.errors import RunError, exit_with_one_line  # noqa: E402
from snippets.mlx_weights import export_weights, mlx_weights  # noqa: E402

WIDTH, CLASSES = 4, 3


@pytest.fixture(autouse=True)
def on_the_cpu():
    """Compute on the CPU on a Mac, too: its GPU rounds differently. There, compiling takes a C++ compiler."""
    before = mx.default_device()
    mx.set_default_device(mx.cpu)
    mx.disable_compile()
    yield
    mx.enable_compile()
    mx.set_default_device(before)


@pytest.fixture
def model():
    torch.manual_seed(0)
    return compare.TorchNetwork(WIDTH, CLASSES)


@pytest.fixture
def batch():
    generator = torch.Generator().manual_seed(1)
    images = torch.rand(6, 3, 8, 8, generator=generator)
    return images, torch.randint(CLASSES, (6,), generator=generator)


def for_mlx(images, labels):
    return mx.array(images.permute(0, 2, 3, 1).numpy()), mx.array(labels.numpy())


def test_the_port_gives_the_same_scores(model, batch):
    images, labels = batch
    model(images)  # fills the running statistics of batch normalization
    port = compare.in_mlx(model)
    model.eval(), port.eval()
    expected = model(images).detach().numpy()
    assert np.allclose(port(for_mlx(images, labels)[0]), expected, atol=1e-6)
    assert np.ptp(expected) > 0.1  # the scores are not all alike, so the comparison says something


def train_both(model, batch, *, compiled):
    """Train eight steps in both frameworks and compare every loss and every weight."""
    port = compare.in_mlx(model)
    ours, theirs = compare.optimizers(model)
    step = compare.make_mlx_step(port, theirs, compiled=compiled)
    losses = [compare.torch_step(model, ours, *batch).item() for _ in range(8)]
    port_losses = [step(*for_mlx(*batch)).item() for _ in range(8)]
    assert losses[0] - losses[-1] > 0.005  # they learned
    assert np.allclose(losses, port_losses, rtol=0, atol=1e-5)
    trained = dict(mlx.utils.tree_flatten(port.parameters()))
    for name, values in mlx_weights(model).items():
        assert np.allclose(trained[name], values, rtol=0, atol=1e-4), name


@pytest.mark.parametrize("compiled", [False, True])
def test_both_train_alike(model, batch, compiled):
    train_both(model, batch, compiled=compiled)


@pytest.mark.long
@pytest.mark.skipif(shutil.which("g++") is None, reason="MLX compiles for the CPU with g++")
def test_both_train_alike_when_mlx_really_compiles(model, batch):
    mx.enable_compile()
    train_both(model, batch, compiled=True)


def test_uncorrected_first_adamw_step_is_three_times_longer(model, batch):
    ours, _ = compare.optimizers(model)
    port = compare.in_mlx(model)
    uncorrected = mlx.optimizers.AdamW(compare.LEARNING_RATE, weight_decay=0.01)
    start = model.head.weight.detach().numpy().copy()
    compare.torch_step(model, ours, *batch)
    compare.make_mlx_step(port, uncorrected, compiled=False)(*for_mlx(*batch))
    corrected = np.abs(model.head.weight.detach().numpy() - start)
    ratio = np.abs(np.array(port.head.weight) - start) / corrected
    # 0.1·g / √(0.001·g²) = √10, plus a little weight decay; with the correction it is g / √g² = 1
    assert np.allclose(corrected, compare.LEARNING_RATE, rtol=0.01)
    assert np.allclose(ratio, 10**0.5, rtol=0.01)


LAYERS = [
    (nn.Conv1d(3, 4, 3), mlx.nn.Conv1d(3, 4, 3), (2, 3, 9)),
    (nn.Conv2d(4, 6, (3, 2), groups=2), mlx.nn.Conv2d(4, 6, (3, 2), groups=2), (2, 4, 7, 5)),
    (nn.Conv3d(2, 3, 2), mlx.nn.Conv3d(2, 3, 2), (2, 2, 4, 5, 3)),
    (nn.ConvTranspose1d(3, 4, 3), mlx.nn.ConvTranspose1d(3, 4, 3), (2, 3, 9)),
    (nn.ConvTranspose2d(3, 4, (3, 2), 2), mlx.nn.ConvTranspose2d(3, 4, (3, 2), 2), (2, 3, 7, 5)),
    (nn.BatchNorm2d(3), mlx.nn.BatchNorm(3), (4, 3, 5, 5)),
    (nn.GroupNorm(2, 4), mlx.nn.GroupNorm(2, 4, pytorch_compatible=True), (2, 4, 3, 3)),
]


@pytest.mark.parametrize(("layer", "port", "shape"), LAYERS, ids=lambda value: type(value).__name__)
def test_layers_with_channels_compute_the_same_in_mlx(layer, port, shape, tmp_path):
    torch.manual_seed(2)
    for values in layer.parameters():
        nn.init.normal_(values)
    export_weights(layer, tmp_path / "layer.npz")
    port.load_weights(str(tmp_path / "layer.npz"))
    inputs = torch.randn(shape)
    found = np.array(port(mx.array(inputs.movedim(1, -1).numpy())))
    assert np.allclose(np.moveaxis(found, -1, 1), layer(inputs).detach(), atol=1e-5)


@pytest.mark.parametrize(
    ("layer", "port"),
    [
        (nn.Linear(5, 4), mlx.nn.Linear(5, 4)),
        (nn.LayerNorm(5), mlx.nn.LayerNorm(5)),
        (nn.RMSNorm(5, eps=1e-5), mlx.nn.RMSNorm(5)),
        (nn.Sequential(nn.Linear(5, 3), nn.GELU()), mlx.nn.Sequential(mlx.nn.Linear(5, 3), mlx.nn.GELU())),
    ],
    ids=["Linear", "LayerNorm", "RMSNorm", "Sequential"],
)
def test_layers_without_channels_compute_the_same_in_mlx(layer, port, tmp_path):
    torch.manual_seed(3)
    for values in layer.parameters():
        nn.init.normal_(values)
    export_weights(layer, tmp_path / "layer.npz")
    port.load_weights(str(tmp_path / "layer.npz"))
    inputs = torch.randn(2, 3, 5)
    assert np.allclose(np.array(port(mx.array(inputs.numpy()))), layer(inputs).detach(), atol=1e-5)


def test_weights_of_another_network_are_refused(model):
    port = compare.MlxNetwork(WIDTH + 1, CLASSES)
    with pytest.raises(ValueError, match="shape"):
        port.load_weights([(name, mx.array(values)) for name, values in mlx_weights(model).items()])


@pytest.fixture
def small(monkeypatch):
    for name, value in {"BATCH": 2, "SIZE": 8, "WIDTH": 4, "WARM_UP": 1, "REPEATS": 3}.items():
        monkeypatch.setattr(compare, name, value)


def test_the_command_reports_both(small, capsys):
    assert compare.main(["cpu"]) == 0
    _head, ours, theirs = capsys.readouterr().out.splitlines()
    number = r"[\d.]+"
    form = rf"{number} ms per step \({number} to {number}\), last loss ({number})"
    ours, theirs = (
        re.fullmatch(rf"{name} {number} +cpu +{form}", text)
        for name, text in (("PyTorch", ours), ("MLX", theirs))
    )
    assert ours and theirs and ours[1] == theirs[1]


def test_the_command_does_not_compare_what_differs(small, monkeypatch, capsys):
    def other_rate(model):
        ours, _ = compare_optimizers(model)
        return ours, mlx.optimizers.AdamW(1.0, bias_correction=True)

    compare_optimizers = compare.optimizers
    monkeypatch.setattr(compare, "optimizers", other_rate)
    assert exit_with_one_line(compare.main, ["cpu"]) == 1
    assert "they do not compute the same" in capsys.readouterr().err


def test_nan_loss_is_a_difference():
    with pytest.raises(RunError, match="nan"):
        compare.check_losses(1.0, float("nan"))
    compare.check_losses(1.0, 1.009)


def test_without_mlx_the_command_says_what_to_do(monkeypatch, capsys):
    for name in [name for name in sys.modules if name.split(".")[0] == "mlx"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "mlx", None)
    source = Path(compare.__file__).read_text(encoding="utf-8")
    with pytest.raises(SystemExit) as ended:
        exec(compile(source, compare.__file__, "exec"), {"__name__": "compare_without_mlx"})
    assert ended.value.code == 2
    assert "python -m pip install mlx" in capsys.readouterr().err
