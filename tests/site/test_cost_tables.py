"""The tables of what loading, indicators and checkpoints cost show what was measured."""

import math
import re
import statistics

import cost_tables
import pytest
import torch
from origins import load

from examples.cifar_optimizers.model import ResNet18, parameter_count
from examples.indicator_transformer.indicators import INDICATORS


def rows_of(name, language="en"):
    """Return the numbers in each row of a table."""
    lines = [line for line in cost_tables.TABLES[name](language).splitlines() if line.startswith("|")]
    return [
        [float(number.replace(",", "")) for number in re.findall(r"\d[\d.,]*", line)] for line in lines[2:]
    ]


def spread(entry, scale=1):
    return [scale * entry[key] for key in ("median", "low", "high")]


def test_augmentation_of_a_whole_batch_is_ten_times_as_fast():
    entries = load("augmentation")
    for entry, numbers in zip(entries, rows_of("results-augmentation"), strict=True):
        times = spread(entry["whole_batch"], 1e3) + spread(entry["image_by_image"], 1e3)
        assert numbers[:6] == pytest.approx(times, rel=0.01, abs=0.051)
        assert numbers[6:] == pytest.approx(spread(entry["ratio"]), abs=0.5)
        assert entry["pairs"] >= 30 and entry["ratio"]["median"] >= 10
        quotient = entry["image_by_image"]["median"] / entry["whole_batch"]["median"]
        assert entry["ratio"]["median"] == pytest.approx(quotient, rel=0.5)  # medians of pairs, not of sides


def test_what_the_page_concludes_from_the_workers():
    none, one, two = load("data_loading")["loader_workers"]["rows"]
    assert [row["workers"] for row in (none, one, two)] == [0, 1, 2]
    assert one["samples_per_s"] == pytest.approx(none["samples_per_s"], rel=0.1)  # no faster than none
    assert two["samples_per_s"] == pytest.approx(2 * none["samples_per_s"], rel=0.1)  # twice as fast
    assert two["first_batch"] == pytest.approx(1.5, abs=0.3)  # the start costs one and a half seconds
    assert rows_of("results-loader-workers", "zh")[2] == [2, two["first_batch"], two["samples_per_s"]]


def test_indicators_were_timed_on_a_year_and_their_cost_is_linear():
    stored = load("indicator_features")
    shares = [12.5, 25, 50, 100]
    for numbers, row, share in zip(rows_of("indicator-features"), stored["rows"], shares, strict=True):
        assert numbers == pytest.approx(
            [row["bars"], share, *spread(row["clock"]), *spread(row["cpu"])], rel=0.01
        )
    assert stored["rows"][-1]["bars"] == cost_tables.YEAR
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
    first, *others = load("checkpoint_cost")
    assert all(whole < machine["bytes"] < 1.001 * whole for machine in (first, *others))
    for numbers, step in zip(rows_of("checkpoint-cost"), cost_tables.STEPS, strict=not others):
        assert numbers[-3:] == pytest.approx(spread(first[step], 1e3), rel=0.01)
