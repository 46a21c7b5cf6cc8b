"""Curves of a recorded run: the points stand where the metrics say, in both languages and schemes."""

import json
import re
from xml.etree import ElementTree

import pytest

from tools.drawing.curves import PANEL, TOP, WORDS, draw, pictures
from tools.drawing.svg_chart import COLOURS, WIDTH

EPOCHS = [(1, 1.0, 20.0, 0.5, 0.25), (2, 0.1, 0.5, 0.75, 0.5), (4, 0.02, 0.01, 1.0, 1.0)]


@pytest.fixture
def metrics(tmp_path):
    path = tmp_path / "metrics.jsonl"
    lines = [{"epoch": 0.5, "loss": 2.0}]
    for epoch, *values in EPOCHS:
        names = ("train_loss", "test_loss", "train_accuracy", "test_accuracy")
        lines.append({"epoch": epoch, "loss": values[0]} | dict(zip(names, values, strict=True)))
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def test_points_stand_where_the_metrics_say(metrics):
    svg = draw(metrics, "en", "light")
    dots = [(float(x), float(y)) for x, y in re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)"', svg)]
    assert len(dots) == 1 + 2 * len(EPOCHS)  # one is in the legend
    loss, accuracy = dots[1:4], dots[4:]
    # The grid of losses runs from 0.01 to 100, four decades; 20 is 3.301 decades above its foot.
    heights = [(3.30103 / 4), (1.69897 / 4), 0]
    assert [y for _, y in loss] == pytest.approx([TOP[0] + (1 - h) * PANEL for h in heights], abs=0.06)
    assert [y for _, y in accuracy] == pytest.approx(
        [TOP[1] + (1 - h) * PANEL for h in (0.25, 0.5, 1)], abs=0.06
    )
    for (first, _), (second, _), (third, _) in (loss, accuracy):  # epochs 1, 2 and 4
        assert third - second == pytest.approx(2 * (second - first), abs=0.2)
        assert WIDTH / 2 < third <= WIDTH


def test_pictures_are_complete(metrics):
    found = pictures(metrics, "x")
    assert len(found) == len(WORDS) * len(COLOURS) == 4
    for name, text in found.items():
        root = ElementTree.fromstring(text)
        words = {element.text for element in root.iter("{http://www.w3.org/2000/svg}text")}
        assert words >= set(WORDS[name.split(".")[1]].values())


def test_a_run_without_an_epoch_is_refused(tmp_path):
    (tmp_path / "m.jsonl").write_text('{"epoch": 0.1, "loss": 2}\n', encoding="utf-8")
    with pytest.raises(ValueError, match="no finished epoch"):
        draw(tmp_path / "m.jsonl", "en", "light")
