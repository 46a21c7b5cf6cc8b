"""Weights for MLX: names, layouts and formats in the file, which needs no MLX to be read."""

import numpy as np
import pytest
import torch
from torch import nn

from snippets.errors import RunError, UsageError
from snippets.mlx_weights import export_weights, mlx_layout, mlx_name, mlx_weights


@pytest.mark.parametrize(
    ("layer", "shape"),
    [
        (nn.Conv1d(3, 8, 5), (8, 5, 3)),
        (nn.Conv2d(3, 8, (5, 7)), (8, 5, 7, 3)),
        (nn.Conv2d(6, 8, 3, groups=2), (8, 3, 3, 3)),
        (nn.Conv3d(3, 8, (5, 6, 7)), (8, 5, 6, 7, 3)),
        (nn.ConvTranspose1d(3, 8, 5), (8, 5, 3)),
        (nn.ConvTranspose2d(3, 8, (5, 7)), (8, 5, 7, 3)),
        (nn.ConvTranspose3d(3, 8, (5, 6, 7)), (8, 5, 6, 7, 3)),
    ],
)
def test_convolutions_get_their_input_channels_last(layer, shape):
    assert mlx_layout(layer, "weight", layer.weight).shape == shape
    assert mlx_layout(layer, "bias", layer.bias) is layer.bias


def test_every_number_goes_to_its_place():
    ordinary, transposed = nn.Conv2d(3, 8, (5, 7)), nn.ConvTranspose2d(3, 8, (5, 7))
    assert mlx_layout(ordinary, "weight", ordinary.weight)[6, 1, 4, 2] == ordinary.weight[6, 2, 1, 4]
    assert mlx_layout(transposed, "weight", transposed.weight)[6, 1, 4, 2] == transposed.weight[2, 6, 1, 4]


@pytest.mark.parametrize("layer", [nn.Linear(3, 8), nn.Embedding(9, 4), nn.LayerNorm(5)])
def test_other_layers_stay_as_they_are(layer):
    assert mlx_layout(layer, "weight", layer.weight) is layer.weight


def test_names_inside_sequential_get_the_word_layers():
    inner = nn.Sequential(nn.Linear(2, 2), nn.ModuleList([nn.Sequential(nn.Linear(2, 2))]))
    model = nn.ModuleDict({"stem": inner, "head": nn.Linear(2, 2)})
    assert mlx_name(model, "stem.0.weight") == "stem.layers.0.weight"
    assert mlx_name(model, "stem.1.0.0.bias") == "stem.layers.1.0.layers.0.bias"
    assert mlx_name(model, "head.weight") == "head.weight"


def test_the_file_holds_all_weights_and_no_counter(tmp_path):
    model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.Flatten(), nn.Linear(4, 2))
    path = tmp_path / "weights.npz"
    export_weights(model, path)
    with np.load(path) as file:
        found = dict(file)
    assert sorted(found) == [
        "layers.0.bias",
        "layers.0.weight",
        "layers.1.bias",
        "layers.1.running_mean",
        "layers.1.running_var",
        "layers.1.weight",
        "layers.3.bias",
        "layers.3.weight",
    ]
    assert np.array_equal(found["layers.0.weight"], model[0].weight.detach().permute(0, 2, 3, 1))
    assert {values.dtype for values in found.values()} == {np.dtype("float32")}
    assert list(tmp_path.iterdir()) == [path]


def test_bfloat16_becomes_float32_and_float16_stays():
    layer = nn.Linear(3, 2, bias=False)
    low = mlx_weights(nn.Sequential(layer.bfloat16()))["layers.0.weight"]
    assert low.dtype == np.float32 and np.array_equal(low, layer.weight.detach().float().numpy())
    assert mlx_weights(layer.half())["weight"].dtype == np.float16


@pytest.mark.parametrize(
    ("layer", "message"),
    [
        (nn.MultiheadAttention(8, 2), r"parameters of MultiheadAttention \(1\) differently"),
        (nn.LSTM(3, 4), r"parameters of LSTM \(1\) differently"),
        (nn.GRUCell(3, 4), r"parameters of GRUCell \(1\) differently"),
        (nn.ConvTranspose2d(4, 4, 3, groups=2), r"ConvTranspose2d \(1\) has 2 groups"),
    ],
)
def test_layers_that_do_not_fit_are_refused(layer, message):
    with pytest.raises(UsageError, match=message):
        mlx_weights(nn.Sequential(nn.Linear(2, 2), layer))


def test_a_path_that_cannot_be_used_is_answered(tmp_path):
    with pytest.raises(UsageError, match=r"weights\.pt has to end in \.npz"):
        export_weights(nn.Linear(2, 2), tmp_path / "weights.pt")
    with pytest.raises(RunError, match=r"cannot write .*weights\.npz: No such file or directory"):
        export_weights(nn.Linear(2, 2), tmp_path / "missing" / "weights.npz")


def test_the_model_itself_is_not_changed(tmp_path):
    model = nn.Conv2d(3, 4, 3)
    before = model.weight.detach().clone()
    export_weights(model, tmp_path / "weights.npz")
    assert model.weight.shape == (4, 3, 3, 3) and torch.equal(model.weight, before)
