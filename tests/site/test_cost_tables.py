"""What loading, indicators and checkpoints cost, and what pages conclude from it."""

import math
import statistics

import pytest
import torch
from origins import load

from examples.cifar_optimizers.model import ResNet18, parameter_count
from examples.indicator_transformer.indicators import INDICATORS


def test_whole_batch_augmentation_is_ten_times_faster():
    entries = load("augmentation")
    for entry in entries:
        assert entry["pairs"] >= 30 and entry["ratio"]["median"] >= 10
        quotient = entry["image_by_image"]["median"] / entry["whole_batch"]["median"]
        assert entry["ratio"]["median"] == pytest.approx(quotient, rel=0.5)  # medians of pairs, not of sides


def test_what_the_page_concludes_from_the_workers():
    none, one, two = load("data_loading")["loader_workers"]["rows"]
    assert [row["workers"] for row in (none, one, two)] == [0, 1, 2]
    assert one["samples_per_s"] == pytest.approx(none["samples_per_s"], rel=0.1)  # no faster than none
    assert two["samples_per_s"] == pytest.approx(2 * none["samples_per_s"], rel=0.1)  # twice as fast
    assert two["first_batch"] == pytest.approx(1.5, abs=0.3)  # the start costs one and a half seconds


def test_indicator_cost_is_linear_over_a_year():
    stored = load("indicator_features")
    assert stored["rows"][-1]["bars"] == 365 * 24 * 60
    assert stored["indicators"] == len(INDICATORS)
    bars, seconds = zip(*((row["bars"], row["cpu"]["median"]) for row in stored["rows"]), strict=True)
    logarithms = (list(map(math.log, values)) for values in (bars, seconds))
    assert stored["exponent"] == pytest.approx(statistics.linear_regression(*logarithms).slope, abs=1e-3)
    assert 0.8 < stored["exponent"] < 1.2, "in proportion to the bars, or it was not a quiet machine"


def test_checkpoints_were_those_of_the_full_network():
    """Weights, running statistics and one momentum per weight; the rest is some kilobytes."""
    with torch.device("meta"):
        model = ResNet18(10, 64)
    buffers = sum(buffer.numel() * buffer.element_size() for buffer in model.buffers())
    whole = 2 * 4 * parameter_count(model) + buffers
    assert all(whole < machine["bytes"] < 1.001 * whole for machine in load("checkpoint_cost"))
