"""The page of the two-tower system: its words fit what was measured."""

import statistics
from pathlib import Path

import pytest
import yaml

from tools.read_yaml import read_yaml

ROOT = Path(__file__).resolve().parents[2]
DATA = read_yaml(ROOT / "docs/data/results/two_tower_pages.yaml")
QUERIES = DATA["runs"][0]["queries"]


def test_splits_and_negatives_fit_the_measurements():
    both, none, near, own_article = (run["best"]["recall_5"] for run in DATA["runs"])
    assert max(both) == both[DATA["seeds"].index(0)]  # "the easiest pages"
    gains = [own - other for own, other in zip(both, none, strict=True)]
    assert min(gains) > 0
    contexts = {round(gain * queries) for gain, queries in zip(gains, QUERIES, strict=True)}
    assert contexts == {1, 2}  # "one context or two of some 200"
    assert statistics.fmean(near) == pytest.approx(statistics.fmean(both), abs=0.002)
    assert all(own <= other for own, other in zip(own_article, none, strict=True))


def test_the_measurement_shows_what_the_scan_is_for():
    """At size origin and batch size 256, the scans of all layers keep a fifth of a gigabyte at most."""
    text = (ROOT / "docs/data/results/two_tower_memory.yaml").read_text(encoding="utf-8")
    (entry,) = (entry for entry in yaml.safe_load(text) if entry["device"] == "cuda")
    ways = {row["way"]: row for row in entry["ways"]}
    scan, loop, recomputed = (ways[name] for name in ("scan", "loop", "recomputed"))
    assert scan["scans_bytes"] <= 0.2e9
    assert loop["scans_bytes"] > 100 * scan["scans_bytes"]
    assert scan["seconds"]["high"] < loop["seconds"]["low"] < recomputed["seconds"]["low"]
    assert scan["peak_bytes"] < recomputed["peak_bytes"] < loop["peak_bytes"]
