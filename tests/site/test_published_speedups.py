"""The picture of published speed-ups shows what the page about devices says, and nothing else."""

import re
from pathlib import Path

import pytest

from tools.read_yaml import read_yaml

ROOT = Path(__file__).resolve().parents[2]
SPEEDUPS = {entry["id"]: entry for entry in read_yaml(ROOT / "docs/data/published_speedups.yaml")}
TABLES = read_yaml(ROOT / "docs/data/published_speeds.yaml")
SAID = (ROOT / "docs/en/start/which-device.md").read_text(encoding="utf-8") + str(TABLES["speeds-single"])


@pytest.mark.parametrize("name", [name for name, entry in SPEEDUPS.items() if "of" in entry])
def test_a_quotient_is_that_of_its_times(name):
    cpu, mps = SPEEDUPS[name]["of"]
    assert SPEEDUPS[name]["times"] == [pytest.approx(cpu / mps, rel=0.01)]


@pytest.mark.parametrize("entry", SPEEDUPS.values(), ids=SPEEDUPS)
def test_the_page_names_figures_and_source(entry):
    address = entry["source"].partition("#")[0]
    assert address in SAID + str(TABLES["speeds-bert"]["sources"])
    if entry["id"] not in ("swap", "bert"):  # times of which the page gives no quotient
        for times in entry["times"]:
            short = f"{times:.1f}".removesuffix(".0")
            assert re.search(rf"(?<![\d.]){short}(\.0)?(?!\d)", SAID), short


def test_those_of_bert_are_quotients_of_the_table():
    times = [round(row[1] / row[2], 2) for row in TABLES["speeds-bert"]["rows"]]
    assert SPEEDUPS["bert"]["times"] == times
    assert SPEEDUPS["swap"]["of"] == [81 * 60, 206 * 60]
    assert "3 h 26 min" in SAID and "1 h 21 min" in SAID
