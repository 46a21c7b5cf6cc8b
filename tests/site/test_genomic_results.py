"""The page of the genomic system: its words fit what was measured."""

import statistics
from pathlib import Path

import pytest
import yaml

from examples.genomic_caduceus import options
from examples.genomic_caduceus.generated_sequences import markov_floors, motif_data
from tests.site.page_parts import below, rows
from tools.read_yaml import read_yaml

ROOT = Path(__file__).resolve().parents[2]
DATA = read_yaml(ROOT / "docs/data/results/genomic_runs.yaml")
RUNS = {run["id"]: run for run in DATA["runs"]}


@pytest.fixture(scope="module", params=["en", "zh"])
def page(request):
    return (ROOT / f"docs/{request.param}/examples/genomic-caduceus/index.md").read_text(encoding="utf-8")


def test_the_settings_exist_and_have_these_defaults(page):
    values = options.PRETRAIN.values([]) | options.TRAIN.values([])
    for cell, *_ in rows(below(page, "settings")):
        key, _, shown = cell.strip("`").partition("=")
        if key == "model" or "train.global_batch_size" in key:  # a file, and in words
            continue
        path = options.TRAIN.keys[key].path if key in options.TRAIN.keys else key
        assert yaml.safe_load(shown) == values[path] or float(shown) == values[path], key


def test_what_was_measured_is_below_what_is_possible():
    for name in ("motif", "averaged", "one_strand", "pretrained"):
        run = RUNS[name]
        assert all(
            own <= best for own, best in zip(run["test_accuracy"], run["best_possible_accuracy"], strict=True)
        )
    floors = RUNS["markov"]["floors"]
    assert floors == {name: round(floor, 4) for name, floor in markov_floors().items()}
    assert all(floors["both sides"] < loss < floors["before"] for loss in RUNS["markov"]["val_loss"])
    best = motif_data(4_000, 1).best
    assert RUNS["motif"]["best_possible_accuracy"][1] == round(best[0], 4)


def test_the_words_about_seeds_fit_what_was_measured():
    both, averaged, one = (RUNS[name]["test_accuracy"] for name in ("motif", "averaged", "one_strand"))
    assert max(both) == both[0]  # "the best of the three"
    for other in (averaged, one):  # "about one point ahead"
        assert 0.005 < statistics.fmean(both) - statistics.fmean(other) < 0.015
    assert any(own < other for own, other in zip(both, one, strict=True))  # "not with every seed"
    gains = [own - other for own, other in zip(RUNS["pretrained"]["test_accuracy"], both, strict=True)]
    assert abs(statistics.fmean(gains)) < 0.001  # "no gain on average"
