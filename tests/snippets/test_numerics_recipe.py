"""The recipe that compares gradients takes a reader's own network, and notices one wrong gradient of many."""

import pytest
import torch
from torch import nn

from tests.recipe_runs import RECIPES

OWN = {
    "model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.GELU())": "model = own_model",
    "x = torch.randn(32, 64)": "x = own_batch",
}


class WrongOnceLinear(nn.Linear):
    """A layer whose gradient is doubled in its third pass, which the recipe computes on the device."""

    passes = 0

    def forward(self, x):
        self.passes += 1
        weight = 2 * self.weight - self.weight.detach() if self.passes == 3 else self.weight
        return nn.functional.linear(x, weight, self.bias)


def last_line(model: nn.Module, batch: torch.Tensor, capsys) -> str:
    """Run the recipe with another network and batch; return its last line."""
    text = RECIPES["numerics"].read_text(encoding="utf-8")
    for ours, own in OWN.items():
        assert text.count(ours) == 1
        text = text.replace(ours, own)
    exec(text, {"own_model": model, "own_batch": batch})
    return capsys.readouterr().out.splitlines()[-1]


def frozen(layer: nn.Module) -> nn.Module:
    return layer.requires_grad_(False)


@pytest.mark.parametrize(
    ("model", "batch"),
    [
        (nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.GELU()), torch.randn(4, 3, 8, 8)),
        (nn.Sequential(nn.Embedding(10, 8), nn.Linear(8, 8)), torch.arange(20) % 10),
        (nn.Sequential(frozen(nn.Linear(8, 8)), nn.GELU(), nn.Linear(8, 8)), torch.randn(4, 8)),
    ],
    ids=["images", "token numbers", "frozen first layer"],
)
def test_own_network_is_right_within_rounding(model, batch, capsys):
    assert last_line(model, batch, capsys) == "right within rounding: True"


@pytest.mark.parametrize("place", range(3))
def test_one_doubled_gradient_is_noticed(place, capsys):
    layers = [nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 8)]
    layers[place] = WrongOnceLinear(8, 8)
    assert last_line(nn.Sequential(*layers), torch.randn(4, 8), capsys) == "right within rounding: False"
