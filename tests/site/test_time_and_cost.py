"""The page "Time and cost of a training": tables and text show what the formulas give."""

import re
from pathlib import Path

import pytest
import time_and_cost
import torch
import training_calculator
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from snippets.training_cost import attention_work, dense_work, energy_kwh

ROOT = Path(__file__).resolve().parents[2]
PAGES = {
    code: (ROOT / f"docs/{code}/guides/time-and-cost.md").read_text(encoding="utf-8") for code in ("en", "zh")
}
TRAININGS = {one["id"]: one for one in time_and_cost.FACTS["trainings"]}
M2 = 3.579e12  # operations per second
V100 = 41  # seconds for 100 steps of BERT, 64 × 128
PRICE = 0.2872
DAY = 86_400


def on_both_pages(*texts):
    return all(text in page for text in texts for page in PAGES.values())


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
    }


def test_work_of_the_trainings():
    assert work_of("resnet18") == 3_328_997_376 * 128
    assert work_of("floorplans") == pytest.approx(6 * 19.46e6 * 53 * 256)
    assert TRAININGS["floorplans"]["positions"] == 53 * 256
    assert TRAININGS["resnet18"]["steps"] == 200 * 50_000 / 128
    assert TRAININGS["gpt2"]["steps"] == 10**9 // (16 * 1024)
    for name in ("bert", "gpt2"):
        assert TRAININGS[name]["positions"] == (
            TRAININGS[name]["attention"]["length"] * TRAININGS[name]["attention"]["batch"]
        )


def test_weights_of_berts_layers():
    bert = time_and_cost.FACTS["bert"]
    layer = nn.TransformerEncoderLayer(768, 12, 3072, device="meta")
    weights = sum(weight.numel() for weight in layer.parameters() if weight.dim() == 2)
    assert 12 * weights == bert["parameters"] == TRAININGS["bert"]["parameters"]


def test_every_worked_example_follows_from_its_row():
    """Time from work, steps and peak; energy from time and power."""
    macs = [mac for mac in time_and_cost.macs() if mac["chip"] in ("M2", "M1 Max")]
    rows = [line.split(" | ") for line in time_and_cost.examples("en").splitlines() if "TFLOP |" in line]
    assert len(rows) == len(TRAININGS)
    scale = {"h": 3600, "days": DAY}
    for _, work, steps, *cells in rows:
        for mac, cell in zip(macs, cells, strict=True):
            operations = float(work.split()[0]) * 1e12 * int(steps.replace(",", ""))
            seconds = operations / (mac["peak"] * 1e12) / 0.4
            time, energy, _ = cell.split("<br>")
            number, unit = time.split()
            assert float(number) * scale[unit] == pytest.approx(seconds, rel=0.05)
            assert float(energy.split()[0]) == pytest.approx(mac["most"] * seconds / 3.6e6, rel=0.01)


def test_shares_that_the_text_names_are_those_of_the_table():
    found = sorted(int(share) for share in re.findall(r"(\d+)%", time_and_cost.shares("en")))
    assert (*found[:2], found[-1]) == (8, 16, 42)
    assert on_both_pages("8%", "16%", "30%", "42%", "23%")
    assert {23, 30} < set(found)


def test_what_the_text_says_of_the_worked_examples():
    examples = time_and_cost.examples("en")
    assert "0.426 TFLOP | 78,125 | 6.5 h<br>0.323 kWh<br>" in examples
    assert re.search(r"BERT.* 10,000 \| .* \| 2.8 h<br>", examples)
    assert 177 / 100 * TRAININGS["bert"]["steps"] / 3600 == pytest.approx(4.9, abs=0.05)
    assert "| 13 days<br>15.4 kWh<br>4.41 € |" in examples
    rented = work_of("floorplans") * 1e6 / M2 / 0.4 / 4 / 3600
    assert rented == pytest.approx(77, abs=0.5)
    assert 4.41 / rented == pytest.approx(0.06, abs=0.005)
    assert on_both_pages("4.41", "77 h", "4.9 h", "33.3 PFLOP")


def test_what_the_text_says_of_work():
    gpt2 = TRAININGS["gpt2"]
    assert dense_work(gpt2["parameters"], gpt2["positions"]) == pytest.approx(12.2e12, rel=0.005)
    assert attention_work(**gpt2["attention"]) == pytest.approx(1.86e12, rel=0.005)
    layer = nn.TransformerEncoderLayer(256, 4, batch_first=True, device="meta")
    assert sum(weight.numel() for weight in layer.parameters() if weight.dim() == 2) == 1_310_720
    with FlopCounterMode(display=False) as count:
        layer(torch.empty(16, 64, 256, device="meta")).sum().backward()
    dense, attention = dense_work(1_310_720, 1024), attention_work(1, 256, 64, 16)
    saved = 2 * 3 * 256 * 256 * 1024  # of the product that makes queries, keys and values
    assert count.get_total_flops() == dense + attention - saved
    parts = [f"{value / 1e9:.2f}" for value in (dense, attention, saved, count.get_total_flops())]
    assert parts == ["8.05", "0.20", "0.40", "7.85"]
    assert on_both_pages(*parts)


def test_what_the_text_says_of_a_v100():
    _, (_, _, m1_max, _, m2_ultra, _, m3_max, v100, _), _ = time_and_cost.SPEEDS["speeds-bert"]["rows"]
    assert (m1_max, v100) == (177, V100)
    assert m2_ultra / v100 == pytest.approx(1.2, abs=0.05)
    assert m3_max / v100 == pytest.approx(1.8, abs=0.05)


def test_what_the_text_says_of_the_claims():
    stage = work_of("floorplans") * 1e6
    assert stage == pytest.approx(1.58e18, rel=0.005)
    assert stage / M2 / 0.4 / DAY == pytest.approx(13, abs=0.5)
    rate = {chip: 100 * work_of("bert") / seconds for chip, seconds in (("M3 Max", 73), ("V100", V100))}
    assert rate["V100"] == pytest.approx(10.5e12, rel=0.005)
    assert stage / rate["V100"] / DAY == pytest.approx(1.8, abs=0.05)
    assert stage / rate["M3 Max"] / DAY == pytest.approx(3.1, abs=0.05)
    low, high = energy_kwh(60, 14 * DAY), energy_kwh(60, 21 * DAY)
    assert (round(low), round(high)) == (20, 30)
    assert (round(low * PRICE, 1), round(high * PRICE, 1)) == (5.8, 8.7)
    for price, watts in ((20, 138), (50, 345)):
        assert energy_kwh(watts, 21 * DAY) * PRICE == pytest.approx(price, rel=0.005)
    assert (round(150 / 72, 2), round(200 / 48, 2)) == (2.08, 4.17)


def test_the_calculator_offers_every_training_and_chip_and_begins_with_the_first_example():
    html = training_calculator.calculator("en")
    for training in TRAININGS.values():
        assert f'data-steps="{training["steps"]}"' in html
    for chip in time_and_cost.CHIPS["chips"]:
        assert f'data-peak="{chip["fp32_tflops"]:g}"' in html
    begins = dict(re.findall(r'name="(\w+)" [^>]*value="([^"]*)"', html))
    assert begins["steps"] == "78125"
    assert begins["peak"] == "3.579"
    assert begins["per_hour"] == begins["measured"] == ""
