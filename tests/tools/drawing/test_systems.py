"""The picture of the README: each panel shows its data, and texts can be read."""

import json
import re
from statistics import fmean

import pytest
import yaml
from matplotlib.figure import Figure

from tests.tools.drawing.test_page_pictures import LATIN, PHONE, illegible
from tools.drawing import systems as tool
from tools.drawing.page_pictures import FOLDER, FONT

DRAWN = tool.pictures()
TEXTS = re.compile(r">([^<\n]+)</text>")


def stored(name):
    return yaml.safe_load((tool.RESULTS / f"{name}.yaml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def panels():
    figure = Figure()
    tool.draw(figure)
    return figure.axes


def points(line):
    return [line.get_xdata().tolist(), line.get_ydata().tolist()]


def in_rows(groups):
    """Return the dots and the line at their mean of every row, as a chart draws them."""
    rows = [
        [[values, [place] * len(values)], [[fmean(values)] * 2, [place - 0.35, place + 0.35]]]
        for place, values in enumerate(groups)
    ]
    return [line for row in rows for line in row]


@pytest.mark.parametrize("name", DRAWN)
def test_the_picture_in_the_repository_is_drawn_from_the_data(name):
    assert len(DRAWN) == 4
    assert (FOLDER / name).read_text(encoding="utf-8") == DRAWN[name], "run python -m tools.drawing.systems"
    assert len(DRAWN[name].encode()) < 60_000


@pytest.mark.parametrize("name", DRAWN)
def test_no_text_touches_another_and_a_phone_shows_them_halfway(name):
    assert [text for text in illegible(DRAWN[name]) if not text.endswith("is small")] == []
    assert FONT * PHONE / tool.WIDTH > FONT / 2 - 0.1 and tool.SHOWN > tool.WIDTH


def test_every_word_is_translated():
    texts = TEXTS.findall(DRAWN["systems-light.zh.svg"])
    left = {text for text in texts if not re.search("[\u4e00-\u9fff]", text) and not LATIN.fullmatch(text)}
    assert left == {"SGD", "Adam", "AdamW", "RAdam", "Lion", "Muon"}
    assert len(texts) > 35


def test_digits(panels):
    runs = [run["test_accuracy"] for run in stored("cifar_digits")["runs"] if "flip" not in run]
    assert [points(line) for line in panels[0].lines] == in_rows(runs)
    shown = [label.get_text() for label in panels[0].get_yticklabels()]
    assert shown == ["SGD", "Adam", "AdamW", "RAdam", "Lion", "Muon"]


def test_calibration(panels):
    evaluation = json.loads((tool.RESULTS / "indicator_evaluation.json").read_text(encoding="utf-8"))
    bins = evaluation["calibration"]["bins"]
    dots = panels[1].containers[0].lines[0].get_xydata().tolist()
    assert dots == [[part["predicted"], part["observed"]] for part in bins]


def test_recall(panels):
    data = stored("two_tower_pages")
    before, after = data["runs"][0]["untrained"]["recall_5"], data["runs"][0]["best"]["recall_5"]
    assert data["runs"][0]["options"] == []  # the default
    *splits, mean = [line.get_ydata() for line in panels[2].lines]
    assert [tuple(split) for split in splits] == list(zip(before, after, strict=True))
    assert list(mean) == [fmean(before), fmean(after)]


def test_motifs(panels):
    runs = {run["id"]: run for run in stored("genomic_runs")["runs"]}
    shown = [runs[name] for name in ("motif", "few_pretrained", "few")]
    lines = [points(line) for line in panels[3].lines]
    assert lines[:6] == in_rows([run["test_accuracy"] for run in shown])
    assert [line[0] for line in lines[6:]] == [[fmean(run["best_possible_accuracy"])] * 2 for run in shown]


def test_floor_plans_are_the_first_four_of_the_longer_training():
    samples = json.loads((tool.RESULTS / "floorplan_samples.json").read_text(encoding="utf-8"))
    strokes = re.findall(r'd="([^"]+)" fill="none"', DRAWN["systems-dark.zh.svg"])
    shown = [path.count("M") for path in strokes if path.count("M") > 1]  # one: a square of the legend
    assert shown == [len(plan[part]) for plan in samples["plans"][:4] for part in ("walls", "corners")]
