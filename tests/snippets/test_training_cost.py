"""The formulas of time and cost, against PyTorch's counter and against sums that can be done by hand."""

import pytest
import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from snippets.training_cost import (
    all_reduce_seconds,
    attention_work,
    dense_work,
    energy_kwh,
    mean_price,
    rent,
    seconds_per_step,
)


def counted(layer, inputs):
    """Return what a step of a layer takes. Nothing is computed: the tensors are on the meta device."""
    with FlopCounterMode(display=False) as count:
        layer(inputs).sum().backward()
    return count.get_total_flops()


def weights_in_matrices(layer):
    return sum(weight.numel() for weight in layer.parameters() if weight.dim() == 2)


def test_dense_layers_are_counted_exactly():
    with torch.device("meta"):
        layer, inputs = nn.Linear(30, 50), torch.empty(7, 11, 30, requires_grad=True)
        assert counted(layer, inputs) == dense_work(30 * 50, 7 * 11)


def test_a_first_layer_saves_the_gradients_of_its_input():
    with torch.device("meta"):
        assert counted(nn.Linear(30, 50), torch.empty(7, 30)) == pytest.approx(dense_work(30 * 50, 7) * 4 / 6)


def test_a_transformer_layer_of_berts_size_is_counted_exactly():
    width, length, batch = 768, 128, 64
    with torch.device("meta"):
        layer = nn.TransformerEncoderLayer(width, 12, 4 * width, batch_first=True, dropout=0.0)
        inputs = torch.empty(batch, length, width, requires_grad=True)
        expected = dense_work(weights_in_matrices(layer), batch * length)
        assert counted(layer, inputs) == expected + attention_work(1, width, length, batch)


def test_attention_grows_with_the_square_of_the_length():
    assert attention_work(12, 768, 1024, 1) == 16 * attention_work(12, 768, 256, 1)
    assert attention_work(12, 768, 256, 4) == 12 * attention_work(1, 768, 256, 4)


def test_time_energy_and_rent_by_hand():
    assert seconds_per_step(2e12, 4e12, 0.5) == 1
    assert energy_kwh(1000, 3600) == 1
    assert energy_kwh(50, 20 * 3600) == 1
    assert rent(8 * 3600, 4, 1.5) == 3  # two hours


def test_all_reduce_by_hand():
    assert all_reduce_seconds(1e9, 1, 10) == 0
    assert all_reduce_seconds(1e9, 2, 32) == 1  # each sends as much as it has
    assert all_reduce_seconds(1e9, 4, 32) == 1.5


def test_the_mean_price_counts_the_cheaper_hours():
    assert mean_price(0.6, 0.3, 8) == pytest.approx((16 * 0.6 + 8 * 0.3) / 24)
    assert mean_price(0.6, 0.3, 0) == 0.6
    assert mean_price(0.6, 0.3, 24) == pytest.approx(0.3)
