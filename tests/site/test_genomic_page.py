"""The page of the genomic system: its words fit what was measured, and its tables show the data."""

import re
import statistics
from pathlib import Path

import genomic_tables as tables
import pytest
import torch
import yaml
from matplotlib.figure import Figure

from examples.genomic_caduceus import options
from examples.genomic_caduceus.window_data import markov_floors
from examples.genomic_caduceus.class_data import motif_data
from examples.genomic_caduceus.mamba import Backbone
from examples.genomic_caduceus.model import Classifier
from tools.drawing import genomic_curves
from tools.measuring import genomic_runs as tool

ROOT = Path(__file__).resolve().parents[2]
RECORDED = ROOT / "docs/data/recorded"
DATA = yaml.safe_load(tool.DATA.read_text(encoding="utf-8"))
RUNS = {run["id"]: run for run in DATA["runs"]}


@pytest.fixture(scope="module", params=["en", "zh"])
def page(request):
    return (ROOT / f"docs/{request.param}/examples/genomic-caduceus/training.md").read_text(encoding="utf-8")


def section(page, name, following):
    return page[page.index(f"{{ #{name} }}") : page.index(f"{{ #{following} }}")]


def rows(table):
    """Return the cells of a Markdown table without its head."""
    lines = [line for line in table.splitlines() if line.startswith("|")][2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_every_option_is_in_the_table_with_its_default(page):
    table = rows(section(page, "options", "files"))
    found = {re.findall("`(.+?)`", row[0])[-1]: row for row in table}
    assert len(found) == len(table)
    keys = options.OF_THE_CALL | options.PRETRAIN.keys | options.TRAIN.keys
    assert found.keys() == {key.path for key in keys.values()} | {"train.global_batch_size"}
    values = options.PRETRAIN.values([]) | options.TRAIN.values([])
    for option, key in keys.items():
        names, default, _ = found[key.path]
        short = [option] if option in options.SHARED_NAMES and option != key.path else []
        assert names == "<br>".join(f"`{name}`" for name in [*short, key.path])
        if option not in ("data", "accumulate"):  # in words
            shown = default.strip("`")
            assert yaml.safe_load(shown) == values[key.path] or float(shown) == values[key.path], option


def test_each_seed_is_a_column_and_the_last_row_is_the_best_possible():
    found = rows(tables.classes("en"))
    assert [row[0] for row in found[:-1]] == [
        RUNS[name]["name"]["en"] for name in ("motif", "averaged", "one_strand")
    ]
    accuracies = RUNS["averaged"]["test_accuracy"]
    assert found[1][1:5] == [f"{value:.1%}" for value in [*accuracies, statistics.fmean(accuracies)]]
    assert found[-1][1:4] == [f"{value:.1%}" for value in RUNS["motif"]["best_possible_accuracy"]]


def test_the_gain_of_pre_training_is_by_seed():
    found = rows(tables.pretraining("en"))
    for row, without, after in zip(found, ("few", "motif"), ("few_pretrained", "pretrained"), strict=True):
        scores = [RUNS[name]["test_accuracy"] for name in (without, after)]
        gains = [100 * (own - other) for other, own in zip(*scores, strict=True)]
        assert row[1:3] == [f"{statistics.fmean(values):.1%}" for values in scores]
        assert row[3] == f"{statistics.fmean(gains):+.1f} ({min(gains):+.1f} to {max(gains):+.1f})"


def test_masked_bases_have_a_row_for_each_kind_of_data():
    found = rows(tables.masked("en"))
    losses = RUNS["hairpin"]["val_loss"]
    assert found[1][1:5] == [f"{value:.3f}" for value in [*losses, statistics.fmean(losses)]]


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


def test_the_tool_starts_a_run_after_another_with_its_weights(monkeypatch, tmp_path):
    """With a stand-in for the programs."""
    started = []

    def run(command, **options):
        started.append([str(word) for word in command[1:]])
        assert options["env"]["OMP_NUM_THREADS"] == "1"
        out = Path(next(word for word in command if str(word).startswith("out="))[4:])
        out.mkdir(parents=True)
        out.joinpath("summary.json").write_text(
            '{"test_accuracy": 0.912345, "best_possible_accuracy": 0.95, "seconds": 1.26, "steps": 3}'
        )

    monkeypatch.setattr(tool.subprocess, "run", run)
    entry = {"id": "b", "program": "train", "options": ["lr=1"], "after": "a"}
    tool.measure(entry, [4, 5], tmp_path)
    assert entry["test_accuracy"] == [0.9123, 0.9123] and entry["seconds"] == [1.3, 1.3]
    assert started[1][1:] == [
        "lr=1",
        "seed=5",
        "device=cpu",
        f"out={tmp_path / 'b/5'}",
        f"train.pretrained={tmp_path / 'a/5'}",
    ]


def test_the_picture_shows_the_metrics_and_what_is_possible():
    figure = Figure()
    genomic_curves.draw(figure)
    classes, masked = figure.axes
    lines = {line.get_label(): list(line.get_ydata()) for line in classes.lines}
    known = [entry["val_accuracy"] for entry in RUNS["motif"]["metrics"] if "val_accuracy" in entry]
    assert lines["held out"] == known
    assert lines["best possible"][0] == RUNS["motif"]["best_possible_accuracy"][0]
    lines = {line.get_label(): list(line.get_ydata()) for line in masked.lines}
    assert lines["training, one batch"] == [entry["loss"] for entry in RUNS["markov"]["metrics"]]
    known = [lines[name][0] for name in ("sees one side", "sees both sides")]
    assert known == pytest.approx(list(markov_floors().values())[1:], abs=1e-4)
