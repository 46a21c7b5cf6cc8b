"""Curves of a recorded run: the points stand where the metrics say."""

import json

import pytest
from matplotlib.figure import Figure

from tools.drawing.curves import draw

EPOCHS = [(1, 1.0, 20.0, 0.5, 0.25), (2, 0.1, 0.5, 0.75, 0.5), (4, 0.02, 0.01, 1.0, 1.0)]
NAMES = ("epoch", "train_loss", "test_loss", "train_accuracy", "test_accuracy")


def test_points_stand_where_the_metrics_say(tmp_path):
    lines = [{"epoch": 0.5, "loss": 2.0}, *(dict(zip(NAMES, values, strict=True)) for values in EPOCHS)]
    lines = [{"step": number} | line for number, line in enumerate(lines)]
    metrics, figure = tmp_path / "metrics.jsonl", Figure()
    metrics.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    draw(metrics, figure)
    shown = {
        (axes.get_ylabel(), line.get_label()): line.get_xydata().tolist()
        for axes in figure.axes
        for line in axes.lines
    }
    assert shown[("cross-entropy", "training, one batch")] == [[0.5, 2]]
    for place, (title, label) in enumerate(
        (title, label) for title in ("cross-entropy", "accuracy") for label in ("training", "held out")
    ):
        assert shown[(title, label)] == [[values[0], values[place + 1]] for values in EPOCHS]
    assert [axes.get_yscale() for axes in figure.axes] == ["log", "linear"]


def test_a_run_without_an_epoch_is_refused(tmp_path):
    (tmp_path / "m.jsonl").write_text('{"step": 1, "epoch": 0.1, "loss": 2}\n', encoding="utf-8")
    with pytest.raises(ValueError, match="no finished epoch"):
        draw(tmp_path / "m.jsonl", Figure())
