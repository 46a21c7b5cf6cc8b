"""Charts: values stand where their axes say; the stored pictures show the data, and phones can show them."""

import json
import re
import unicodedata
from itertools import combinations
from xml.etree import ElementTree

import pytest

from tools.drawing import evaluation as draw_evaluation
from tools.drawing import speed_ratios as draw_speed_ratios
from tools.drawing.evaluation import contrast
from tools.drawing.svg_chart import (
    COLOURS,
    FOLDER,
    FONT,
    LANGUAGES,
    PHONE,
    WIDTH,
    Axis,
    Entry,
    Panel,
    decades,
    dot,
    in_all_forms,
    label,
    legend,
    number,
    picture,
    stroke,
)

CHARTS = ("cifar-curves", "indicator-calibration", "indicator-markets", "mlx-ratios")
LIGHT = COLOURS["light"]
TEXT = "{http://www.w3.org/2000/svg}text"


def test_linear_and_logarithmic_axes():
    assert [Axis(-1, 3).share(value) for value in (-1, 0, 3)] == [0, 0.25, 1]
    assert [Axis(6, 0).share(value) for value in (6, 3, 0)] == [0, 0.5, 1]
    halves = Axis(1 / 4, 4, logarithmic=True)
    assert [halves.share(value) for value in (1 / 4, 1, 2, 4)] == pytest.approx([0, 0.5, 0.75, 1])


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [(0.02, 30, [0.01, 0.1, 1, 10, 100]), (0.1, 1, [0.1, 1]), (2, 3, [1, 10]), (10, 10, [10, 100])],
)
def test_decades_hold_all_values(low, high, ticks):
    axis = decades(low, high)
    assert axis.ticks == pytest.approx(ticks)
    assert (axis.low, axis.high) == (axis.ticks[0], axis.ticks[-1])


def test_what_is_drawn_stands_where_its_values_say():
    panel = Panel(Axis(0, 4, (0, 2, 4)), Axis(0, 100, (0, 50)), 40, 200, LIGHT, left=50, right=250)
    assert panel.place(1, 25) == (100, 190)
    assert panel.dots([(1, 25)], "#123456") == [dot(100, 190, "#123456")]
    assert (
        panel.line([(0, 0), (4, 100)], 'stroke="#123456"')
        == '<path d="M50.0 240.0L250.0 40.0" stroke="#123456"/>'
    )
    bar = panel.bar(1, 2, 50, "#123456")
    assert bar == '<rect x="100.0" y="140.0" width="49.0" height="100.0" fill="#123456" fill-opacity=".6"/>'
    frame = "".join(panel.frame("above", "below"))
    assert re.findall(r'd="M50 ([\d.]+)H250"', frame) == ["240.0", "140.0"]
    assert re.findall(r'x="([\d.]+)" y="260.0"[^>]*>(\d)<', frame) == [
        ("50.0", "0"),
        ("150.0", "2"),
        ("250.0", "4"),
    ]
    assert re.findall(r">([a-z]+)<", frame) == ["above", "below"]
    assert number(-0.5) == "\u22120.5"


def test_legends_have_rows_and_columns():
    entry = Entry("words", stroke("#123456", 1, dashes="2 4", opacity=".5"), dot="#654321")
    parts = "".join(legend([entry, entry, entry._replace(upright=True)], 2, LIGHT))
    places = [(float(x), float(y)) for x, y in re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)"', parts)]
    assert places[0][1] == places[1][1] < places[2][1]
    assert places[0][0] == places[2][0] < places[1][0]
    assert [
        parts.count(mark) for mark in ("h24", "v16", 'stroke-dasharray="2 4"', 'stroke-opacity=".5"')
    ] == [2, 1, 3, 3]


def test_the_pictures_in_the_repository_are_drawn_from_the_data():
    evaluation = json.loads(draw_evaluation.DATA.read_text(encoding="utf-8"))
    found = draw_evaluation.pictures(evaluation) | draw_speed_ratios.pictures()
    assert len(found) == 3 * len(LANGUAGES) * len(COLOURS) == 12
    for name, text in found.items():
        tool = "draw_speed_ratios" if name.startswith("mlx") else "draw_evaluation"
        assert (FOLDER / name).read_text(encoding="utf-8") == text, f"run python -m tools.{tool}"


def test_every_chart_is_examined_below():
    stored = {path.name for path in FOLDER.glob("*.svg")} - {"favicon.svg", "logo.svg"}
    assert stored == {name for chart in CHARTS for name in in_all_forms(chart, lambda *_: "")}


def letters(text):
    """Return about how wide a text is, in widths of a square letter: Chinese letters are square."""
    return sum(1 if unicodedata.east_asian_width(letter) in "WF" else 0.56 for letter in text)


def boxes(svg):
    """Return text, left, top, right and bottom of every text of a picture."""
    root = ElementTree.fromstring(svg)
    size = float(root.get("font-size"))
    for element in root.iter(TEXT):
        x, y = float(element.get("x")), float(element.get("y"))
        wide = size * letters(element.text)
        before = {"start": 0, "middle": 0.5, "end": 1}[element.get("text-anchor")] * wide
        if element.get("transform"):  # turned to the right
            yield element.text, x - 0.2 * size, y - before, x + 0.8 * size, y - before + wide
        else:
            yield element.text, x - before, y - 0.8 * size, x - before + wide, y + 0.2 * size


def illegible(svg):
    """Name the texts of a picture that a phone shows too small, that are cut off, and that touch another."""
    root = ElementTree.fromstring(svg)
    _, _, width, height = map(float, root.get("viewBox").split())
    sizes = [element.get("font-size") for element in root.iter() if element.get("font-size")]
    wrong = [f"size {size}" for size in sizes if float(size) * min(1, PHONE / width) < 12]
    found = list(boxes(svg))
    wrong += [
        f"{text} is cut off"
        for text, left, top, right, bottom in found
        if left < 0 or top < 0 or right > width or bottom > height
    ]
    return wrong + [
        f"{one[0]} touches {other[0]}"
        for one, other in combinations(found, 2)
        if one[1] < other[3] and other[1] < one[3] and one[2] < other[4] and other[2] < one[4]
    ]


@pytest.mark.parametrize("name", [name for chart in CHARTS for name in in_all_forms(chart, lambda *_: "")])
def test_a_phone_can_show_every_text(name):
    svg = (FOLDER / name).read_text(encoding="utf-8")
    assert len(list(boxes(svg))) >= 12
    assert illegible(svg) == []


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ([label(10, 20, "fine", "#000000")], []),
        ([label(370, 20, "beyond", "#000000")], ["beyond is cut off"]),
        ([label(10, 20, "before", "#000000", "end")], ["before is cut off"]),
        ([label(10, 99, "below", "#000000")], ["below is cut off"]),
        ([label(10, 20, "one", "#000000"), label(30, 20, "two", "#000000")], ["one touches two"]),
        (
            [label(10, 50, "one", "#000000", "middle", turned=True), label(8, 50, "two", "#000000")],
            ["one touches two"],
        ),
        ([label(40, 50, "中文字", "#000000"), label(80, 50, "two", "#000000")], ["中文字 touches two"]),
    ],
)
def test_texts_that_nobody_can_read_are_found(parts, expected):
    assert illegible(picture(100, parts)) == expected
    assert illegible(picture(100, parts).replace(f'"{FONT}"', '"10"'))[0] == "size 10"
    assert illegible(picture(100, parts).replace(f"0 0 {WIDTH} ", "0 0 760 "))[0] == f"size {FONT}"


@pytest.mark.parametrize("scheme", COLOURS)
def test_marks_and_text_can_be_told_from_the_page(scheme):
    colours = COLOURS[scheme]
    for name in ("text", "blue", "orange"):
        assert contrast(colours[name], colours["ground"]) >= 4.5
