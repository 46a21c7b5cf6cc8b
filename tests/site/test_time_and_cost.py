"""The page "Time and cost of a training": its tables and its work are what the formulas give."""

import re

import pytest
import time_and_cost
import torch
import training_calculator
from data_tables import render
from origins import COMPUTED, DATA, load
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from snippets.training_cost import attention_work, dense_work

TRAININGS = {one["id"]: one for one in time_and_cost.FACTS["trainings"]}
DAY = 86_400


def work_of(name):
    return time_and_cost.work_per_step(TRAININGS[name])


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (0.5, "0.50 s"),
        (99.4, "99 s"),
        (100, "1.7 min"),
        (5999, "100 min"),
        (6000, "1.7 h"),
        (23_400, "6.5 h"),
        (48 * 3600, "2.0 days"),
        (12.8 * DAY, "13 days"),
    ],
)
def test_durations_have_a_unit_that_suits_them(seconds, expected):
    assert time_and_cost.duration(seconds, "en") == expected
    assert time_and_cost.duration(seconds, "zh") == expected.replace("days", "天")


def test_a_result_by_hand():
    found = time_and_cost.results("en", 0.5, 14_400, 100, 0.25, faster=4, per_hour=3)
    assert found == {
        "step": "0.500 s",
        "time": "2.0 h",
        "energy": "0.200 kWh",
        "electricity": "0.05",
        "rented": "30 min",
        "rent": "1.50",
        "network": "–",
    }
    found = time_and_cost.results("en", 0.5, 14_400, 100, 0.25, several=(124e6, 2, 10))
    assert found["network"] == "0.397 s"


def test_the_chinese_edition_counts_in_yuan():
    found = time_and_cost.results("zh", 0.5, 14_400, 100, 0.6, faster=4, per_hour=3, off_peak=(0.3, 8))
    assert found["electricity"] == "0.10 元"  # 0.2 kWh at a mean of 0.5
    assert found["rent"] == "1.50 元"
    fields = re.findall(r'name="(\w+)" [^>]*value="([^"]*)"', training_calculator.calculator("zh"))
    assert dict(fields)["price"] == ""
    assert time_and_cost.results("zh", 0.5, 14_400, 100, None)["electricity"] == "–"


def test_weights_of_berts_layers():
    bert = time_and_cost.FACTS["bert"]
    layer = nn.TransformerEncoderLayer(768, 12, 3072, device="meta")
    weights = sum(weight.numel() for weight in layer.parameters() if weight.dim() == 2)
    assert 12 * weights == bert["parameters"] == TRAININGS["bert"]["parameters"]


def test_every_worked_example_follows_from_its_row():
    """Time from work, steps and peak; energy from time and power."""
    macs = [mac for mac in time_and_cost.macs() if mac["chip"] in ("M2", "M1 Max")]
    rows = [line.split(" | ") for line in render("time-examples", "en").splitlines() if "TFLOP |" in line]
    assert len(rows) == len(TRAININGS)
    scale = {"h": 3600, "days": DAY}
    for _, *cells, steps_and_work in rows:
        steps, work = steps_and_work.split("<br>")
        for mac, cell in zip(macs, cells, strict=True):
            operations = float(work.split()[0]) * 1e12 * int(steps.replace(",", ""))
            seconds = operations / (mac["peak"] * 1e12) / 0.4
            time, energy = cell.split("<br>")
            number, unit = time.split()
            assert float(number) * scale[unit] == pytest.approx(seconds, rel=0.05)
            assert float(energy.split()[0]) == pytest.approx(mac["most"] * seconds / 3.6e6, rel=0.01)


def test_work_in_the_text_is_that_of_the_formulas():
    computed, bert = load("time_and_cost", COMPUTED), load("time_and_cost", DATA)["bert"]
    assert computed["work"] == {name: work_of(name) for name in TRAININGS}
    for shape, work in computed["bert"].items():
        batch, length = map(int, shape.split(" × "))
        attention = attention_work(bert["layers"], bert["width"], length, batch)
        assert work == dense_work(bert["parameters"], batch * length) + attention
    gpt2 = TRAININGS["gpt2"]
    dense, attention = dense_work(gpt2["parameters"], gpt2["positions"]), attention_work(**gpt2["attention"])
    assert computed["gpt2"] == {"dense": dense, "attention": attention}


def test_the_recipes_layer_is_counted_right():
    layer = nn.TransformerEncoderLayer(256, 4, batch_first=True, device="meta")
    with FlopCounterMode(display=False) as count:
        layer(torch.empty(16, 64, 256, device="meta")).sum().backward()
    weights = sum(weight.numel() for weight in layer.parameters() if weight.dim() == 2)
    found = {"weights": weights, "dense": dense_work(weights, 1024)}
    found["attention"] = attention_work(1, 256, 64, 16)
    found["saved"] = 2 * 3 * 256 * 256 * 1024  # of the product that makes queries, keys and values
    found["counted"] = count.get_total_flops()
    assert load("time_and_cost", COMPUTED)["layer"] == found
    assert found["counted"] == found["dense"] + found["attention"] - found["saved"]


def test_calculator_offers_all_choices_and_begins_with_example():
    html = training_calculator.calculator("en")
    for training in TRAININGS.values():
        assert f'data-steps="{training["steps"]}"' in html
    for chip in time_and_cost.CHIPS["chips"]:
        assert f'data-peak="{chip["fp32_tflops"]:g}"' in html
    begins = dict(re.findall(r'name="(\w+)" [^>]*value="([^"]*)"', html))
    assert begins["steps"] == "78125"
    assert begins["peak"] == "3.579"
    assert begins["per_hour"] == begins["measured"] == ""
