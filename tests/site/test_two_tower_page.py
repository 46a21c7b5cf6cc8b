"""The page of the two-tower system: its words fit what was measured, and its tables show the data."""

import statistics
from pathlib import Path

import pytest
import two_tower_tables as tables
import yaml

ROOT = Path(__file__).resolve().parents[2]
DATA = yaml.safe_load((ROOT / "docs/data/results/two_tower_pages.yaml").read_text(encoding="utf-8"))
UNTRAINED, QUERIES = (DATA["runs"][0][name] for name in ("untrained", "queries"))
ARROW = "\N{NO-BREAK SPACE}→\N{NO-BREAK SPACE}"  # a phone must not break the cell


def rows(table):
    """Return the cells of a Markdown table without its head."""
    lines = [line for line in table.splitlines() if line.startswith("|")][2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_each_split_is_a_row_and_the_last_one_is_the_mean():
    found = rows(tables.splits("en"))
    before, after = UNTRAINED, DATA["runs"][0]["best"]
    assert [row[0] for row in found] == [*map(str, DATA["seeds"]), "Mean"]
    assert found[1][3] == f"{before['recall_5'][1]:.1%}{ARROW}{after['recall_5'][1]:.1%}"
    mean = [statistics.fmean(values["mrr"]) for values in (before, after)]
    assert found[-1][4] == f"{mean[0]:.3f}{ARROW}{mean[1]:.3f}"


def test_every_kind_of_negatives_is_compared_with_none():
    found = rows(tables.negatives("en"))
    assert [row[0] for row in found] == [run["name"]["en"] for run in DATA["runs"]]
    compared = dict(zip((row[0] for row in found), (row[4] for row in found), strict=True))
    assert [name for name, gain in compared.items() if gain == "–"] == ["none"]
    default, none = (run["best"]["recall_5"] for run in DATA["runs"][:2])
    gains = [100 * (own - other) for own, other in zip(default, none, strict=True)]
    assert found[0][4] == f"{statistics.fmean(gains):+.1f} ({min(gains):+.1f} to {max(gains):+.1f})"


def test_the_words_about_splits_and_negatives_fit_what_was_measured():
    both, none, near, own_article = (run["best"]["recall_5"] for run in DATA["runs"])
    assert max(both) == both[DATA["seeds"].index(0)]  # "the easiest pages"
    gains = [own - other for own, other in zip(both, none, strict=True)]
    assert min(gains) > 0
    contexts = {round(gain * queries) for gain, queries in zip(gains, QUERIES, strict=True)}
    assert contexts == {1, 2}  # "one context or two of some 200"
    assert statistics.fmean(near) == pytest.approx(statistics.fmean(both), abs=0.002)
    assert all(own <= other for own, other in zip(own_article, none, strict=True))


def test_the_measurement_shows_what_the_scan_is_for():
    """At the guide's size and batch size, the scans of all layers keep a fifth of a gigabyte at most."""
    text = (ROOT / "docs/data/results/two_tower_memory.yaml").read_text(encoding="utf-8")
    (entry,) = (entry for entry in yaml.safe_load(text) if entry["device"] == "cuda")
    ways = {row["way"]: row for row in entry["ways"]}
    scan, loop, recomputed = (ways[name] for name in ("scan", "loop", "recomputed"))
    assert scan["scans_bytes"] <= 0.2e9
    assert loop["scans_bytes"] > 100 * scan["scans_bytes"]
    assert scan["seconds"]["high"] < loop["seconds"]["low"] < recomputed["seconds"]["low"]
    assert scan["peak_bytes"] < recomputed["peak_bytes"] < loop["peak_bytes"]
