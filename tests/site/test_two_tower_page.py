"""The page of the two-tower system: its words fit what was measured, and its tables show the data."""

import re
import statistics
from pathlib import Path

import pytest
import torch
import two_tower_tables as tables
import yaml

from examples.two_tower import ngrams
from examples.two_tower.data_sources import generate_pairs, read_passages
from examples.two_tower.model import Shape, expected_parameters
from examples.two_tower.options import SIZES
from tools.measuring import two_tower_pages as tool

ROOT = Path(__file__).resolve().parents[2]
DATA = yaml.safe_load(tool.DATA.read_text(encoding="utf-8"))
ARROW = "\N{NO-BREAK SPACE}→\N{NO-BREAK SPACE}"  # a phone must not break the cell


def rows(table):
    """Return the cells of a Markdown table without its head."""
    lines = [line for line in table.splitlines() if line.startswith("|")][2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_each_split_is_a_row_and_the_last_one_is_the_mean():
    found = rows(tables.splits("en"))
    before, after = (DATA[name] for name in ("untrained", "runs"))
    after = after[0]["best"]
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


def test_the_tool_stores_a_score_of_each_seed(monkeypatch):
    """With stand-ins for the programs."""
    started = []

    def evaluations(options, seed, folder):
        started.append((options, seed))
        scores = {"recall_1": seed / 10 + 0.00001}
        return {
            name: {"bank": 7, "queries": 3 + seed, "untrained": scores, "trained": scores}
            for name in tool.CHECKPOINTS
        }

    monkeypatch.setattr(tool, "evaluations", evaluations)
    run = {"options": ["--near-miss-k", "0"]}
    shared = tool.measure(run, [1, 2])
    assert started == [(run["options"], 1), (run["options"], 2)]
    assert run["best"] == run["last"] == {"recall_1": [0.1, 0.2]}
    assert shared == {"bank": 7, "queries": [4, 5], "untrained": {"recall_1": [0.1, 0.2]}}


def test_the_words_about_splits_and_negatives_fit_what_was_measured():
    both, none, near, own_article = (run["best"]["recall_5"] for run in DATA["runs"])
    assert max(both) == both[DATA["seeds"].index(0)]  # "the easiest pages"
    gains = [own - other for own, other in zip(both, none, strict=True)]
    assert min(gains) > 0
    contexts = {round(gain * queries) for gain, queries in zip(gains, DATA["queries"], strict=True)}
    assert contexts == {1, 2}  # "one context or two of some 200"
    assert statistics.fmean(near) == pytest.approx(statistics.fmean(both), abs=0.002)
    assert all(own <= other for own, other in zip(own_article, none, strict=True))
