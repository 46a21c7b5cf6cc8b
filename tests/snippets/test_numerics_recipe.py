"""The recipe that compares gradients takes a reader's own network, and notices one wrong gradient of many."""

import re
from pathlib import Path
from typing import ClassVar

import pytest
import torch
from torch import nn
from torch.nn.utils.parametrizations import spectral_norm

from tests.recipe_runs import RECIPES

ROOT = Path(__file__).resolve().parents[2]
OWN = {
    "model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.GELU())": "model = own_model",
    "x = torch.randn(32, 64)": "x = own_batch",
}


class WrongOnceLinear(nn.Linear):
    """A layer whose gradient is doubled in the third pass, which the recipe computes on the device."""

    passes: ClassVar[int] = 0  # of all copies

    def forward(self, x):
        WrongOnceLinear.passes += 1
        weight = 2 * self.weight - self.weight.detach() if WrongOnceLinear.passes == 3 else self.weight
        return nn.functional.linear(x, weight, self.bias)


class OnlyOnMps(nn.Linear):
    """A layer that is on MPS: from there, a copy to the CPU in float64 copies nothing or raises an error."""

    def cpu(self):
        return nn.Linear(8, 8)

    def to(self, *_):
        raise TypeError("Cannot convert a MPS Tensor to float64 dtype")


def last_line(model: nn.Module, batch: torch.Tensor, capsys) -> str:
    """Run the recipe with another network and batch; return its last line."""
    WrongOnceLinear.passes = 0
    text = RECIPES["numerics"].read_text(encoding="utf-8")
    for ours, own in OWN.items():
        assert text.count(ours) == 1
        text = text.replace(ours, own)
    exec(text, {"own_model": model, "own_batch": batch})
    return capsys.readouterr().out.splitlines()[-1]


def frozen(layer: nn.Module) -> nn.Module:
    return layer.requires_grad_(False)


def exact(layer: nn.Module) -> nn.Module:
    """Return the layer with weights whose sums are exact in float32, too."""
    for parameter in layer.parameters():
        nn.init.constant_(parameter, 0.5)
    return layer


@pytest.mark.parametrize(
    ("model", "batch"),
    [
        (nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.GELU()), torch.randn(4, 3, 8, 8)),
        (nn.Sequential(nn.Embedding(10, 8), nn.Linear(8, 8)), torch.arange(20) % 10),
        (nn.Sequential(frozen(nn.Linear(8, 8)), nn.GELU(), nn.Linear(8, 8)), torch.randn(4, 8)),
        (nn.Sequential(spectral_norm(nn.Linear(8, 8)), nn.GELU()), torch.randn(4, 8)),
        (exact(nn.Linear(8, 8)), torch.ones(4, 8)),
        (OnlyOnMps(8, 8), torch.randn(4, 8)),
    ],
    ids=["images", "token numbers", "frozen first layer", "changes in training", "no rounding", "on MPS"],
)
def test_own_network_is_right_within_rounding(model, batch, capsys):
    assert last_line(model, batch, capsys) == "right within rounding: True"


@pytest.mark.parametrize("place", range(3))
def test_one_doubled_gradient_is_noticed(place, capsys):
    layers = [nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 8)]
    layers[place] = WrongOnceLinear(8, 8)
    assert last_line(nn.Sequential(*layers), torch.randn(4, 8), capsys) == "right within rounding: False"


def test_doubled_gradient_is_noticed_beside_spectral_norm(capsys):
    network = nn.Sequential(spectral_norm(nn.Linear(64, 64)), WrongOnceLinear(64, 64))
    assert last_line(network, torch.randn(32, 64), capsys) == "right within rounding: False"


@pytest.mark.parametrize("language", ["en", "zh"])
def test_line_on_the_page_sets_every_dropout_to_zero(language):
    page = (ROOT / "docs" / language / "facts" / "wrong-results.md").read_text(encoding="utf-8")
    (line,) = re.findall(r"`(\[setattr.+?\])`", page)
    recurrent = nn.LSTM(8, 8, 2, dropout=0.5)
    attention = nn.TransformerEncoderLayer(8, 2, 8, dropout=0.5)
    pictures = nn.Sequential(nn.Dropout2d(), nn.AlphaDropout())
    exec(line, {"model": nn.ModuleList([recurrent, attention, pictures])})
    batch = torch.randn(2, 3, 8)
    assert torch.equal(recurrent(batch)[0], recurrent(batch)[0])
    assert torch.equal(attention(batch), attention(batch))
    images = torch.randn(2, 3, 4, 4)
    assert torch.equal(pictures(images), images)
