"""Curves of a recorded run: the points stand where the metrics say, in both languages and schemes."""

import json
import re
from xml.etree import ElementTree

import pytest

from tools.draw_curves import COLOURS, HEIGHT, PANEL, TOP, WIDTH, WORDS, draw, pictures

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
    loss, accuracy = dots[:3], dots[3:6]
    # The grid of losses runs from 0.01 to 100, four decades; 20 is 3.301 decades above its foot.
    heights = [(3.30103 / 4), (1.69897 / 4), 0]
    assert [y for _, y in loss] == pytest.approx([TOP + (1 - h) * PANEL[1] for h in heights], abs=0.06)
    assert [y for _, y in accuracy] == pytest.approx([TOP + 150, TOP + 100, TOP], abs=0.06)
    spans = [dots[1][0] - dots[0][0], dots[2][0] - dots[1][0]]
    assert spans == pytest.approx([PANEL[0] / 4, PANEL[0] / 2], abs=0.11)


def test_pictures_are_complete_and_stay_inside(metrics):
    found = pictures(metrics, "x")
    assert len(found) == len(WORDS) * len(COLOURS) == 4
    for name, text in found.items():
        root = ElementTree.fromstring(text)
        numbers = [float(number) for number in re.findall(r"(?<=[ML ])\d+\.\d", text)]
        assert numbers
        assert max(numbers) < max(WIDTH, HEIGHT)
        words = {element.text for element in root.iter("{http://www.w3.org/2000/svg}text")}
        assert words >= set(WORDS[name.split(".")[1]].values())


def test_a_run_without_an_epoch_is_refused(tmp_path):
    (tmp_path / "m.jsonl").write_text('{"epoch": 0.1, "loss": 2}\n', encoding="utf-8")
    with pytest.raises(ValueError, match="no finished epoch"):
        draw(tmp_path / "m.jsonl", "en", "light")
