"""The stored pictures show the data in both languages; phones can show them, eyes tell them from the page."""

import json
import re
import unicodedata
from itertools import combinations
from xml.etree import ElementTree

import pytest
from matplotlib.figure import Figure

from examples.indicator_transformer import evaluation_plot
from examples.indicator_transformer.evaluation_plot import NEVER, PAPER
from examples.programs.report import HELD_OUT, LIMIT, TRAINING
from tools.drawing import (
    evaluation,
    floorplan_gallery,
    floorplan_memory,
    genomic_curves,
    speed_ratios,
    two_tower_memory,
)
from tools.drawing.page_pictures import COLOURS, FOLDER, FONT, PHONE, WIDTH, pictures

EVALUATION = json.loads(evaluation.DATA.read_text(encoding="utf-8"))
README = "systems-"  # test_systems.py
ALL = sorted(path.name for path in FOLDER.glob("*-*.svg") if not path.name.startswith(README))
GALLERIES = tuple(f"floorplan-{name}-" for name in floorplan_gallery.DRAWN)  # test_floorplan_gallery.py
TREES = "decision-"  # test_decision_trees.py
STORED = [name for name in ALL if not name.startswith((*GALLERIES, TREES))]
TEXT = "{http://www.w3.org/2000/svg}text"
LATIN = re.compile(r"[\d.%−–]+|softmax|obv|vwap|[a-z]+(_[a-z0-9]+)+")  # names of things


def test_the_pictures_in_the_repository_are_drawn_from_the_data():
    found = {
        "evaluation": evaluation.evaluation_pictures(EVALUATION),
        "floorplan_memory": floorplan_memory.pictures(),
        "genomic_curves": genomic_curves.pictures(),
        "speed_ratios": speed_ratios.pictures(),
        "two_tower_memory": two_tower_memory.pictures(),
    }
    assert sum(map(len, found.values())) == 24
    assert len(STORED) == 28  # the others: tests/site/test_recorded_output.py
    for tool, drawn_now in found.items():
        for name, text in drawn_now.items():
            assert (FOLDER / name).read_text(encoding="utf-8") == text, f"run python -m tools.drawing.{tool}"


@pytest.mark.parametrize("name", [name for name in STORED if ".zh." in name])
def test_every_word_is_translated(name):
    pair = [ElementTree.parse(FOLDER / name.replace(".zh.", language)) for language in (".en.", ".zh.")]
    english, chinese = ([element.text for element in tree.iter(TEXT)] for tree in pair)
    assert len(english) == len(chinese) > 10
    for one, other in zip(english, chinese, strict=True):
        assert re.search("[\u4e00-\u9fff]", other) or (one == other and LATIN.fullmatch(other)), other


def letters(text):
    """Return about how wide a text is, in widths of a square letter: Chinese letters are square."""
    return sum(1 if unicodedata.east_asian_width(letter) in "WF" else 0.56 for letter in text)


def boxes(svg):
    """Yield size, text, left, top, right and bottom of every text of a picture."""
    for element in ElementTree.fromstring(svg).iter(TEXT):
        style = element.get("style") or "; ".join(f"{key}: {value};" for key, value in element.items())
        size = float(re.search(r"font-size: ([\d.]+)", style)[1])
        x, y = float(element.get("x")), float(element.get("y"))
        anchor = re.search("text-anchor: (.*?);", style)
        wide = size * letters(element.text)
        before = {"start": 0, "middle": 0.5, "end": 1}[anchor[1] if anchor else "start"] * wide
        turn = re.match(r"rotate\((-?\d+) ", element.get("transform", "rotate(0 "))[1]
        across, above, below = (-before, wide - before), 0.8 * size, 0.2 * size
        left, top, right, bottom = {
            "0": (across[0], -above, across[1], below),
            "-90": (-above, -across[1], below, -across[0]),  # read from bottom to top
            "-270": (-below, across[0], above, across[1]),
        }[turn]
        yield size, element.text, x + left, y + top, x + right, y + bottom


def illegible(svg):
    """Name the texts of a picture that a phone shows too small, that are cut off, and that touch another."""
    width, height = map(float, re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg).groups())
    found = list(boxes(svg))
    wrong = [f"{text} is small" for size, text, *_ in found if size * min(1, PHONE / width) < 12]
    wrong += [
        f"{text} is cut off"
        for _, text, left, top, right, bottom in found
        if left < 0 or top < 0 or right > width or bottom > height
    ]
    return wrong + [
        f"{one[1]} touches {other[1]}"
        for one, other in combinations(found, 2)
        if one[2] < other[4] and other[2] < one[4] and one[3] < other[5] and other[3] < one[5]
    ]


@pytest.mark.parametrize("name", ALL)
def test_a_phone_can_show_every_text(name):
    svg = (FOLDER / name).read_text(encoding="utf-8")
    assert len(list(boxes(svg))) >= (12 if name in STORED else 6)
    assert illegible(svg) == []


def drawn(*texts):
    """Return a picture 100 pixels high with texts: x, y from below, what, and how it is placed."""

    def draw(figure: Figure) -> None:
        for x, y, text, how in texts:
            figure.text(x / WIDTH, y / 100, text, **how)

    return pictures("a", 100, draw, {"three": "中文字"})["a-light.zh.svg"]


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ([(10, 80, "fine", {})], []),
        ([(350, 80, "beyond", {})], ["beyond is cut off"]),
        ([(10, 80, "before", {"ha": "right"})], ["before is cut off"]),
        ([(10, 95, "above", {})], ["above is cut off"]),
        ([(10, 80, "one", {}), (30, 80, "two", {})], ["one touches two"]),
        ([(40, 50, "three", {}), (80, 50, "two", {})], ["中文字 touches two"]),
        (
            [(10, 50, "one", {"rotation": 270, "rotation_mode": "anchor"}), (8, 38, "two", {})],
            ["one touches two"],
        ),
    ],
)
def test_texts_that_nobody_can_read_are_found(texts, expected):
    svg = drawn(*texts)
    assert illegible(svg) == expected
    text = expected[0].split()[0] if expected else "fine"
    assert "is small" in illegible(svg.replace(f"{FONT}px", "10px"))[0]
    assert illegible(svg.replace(f"0 0 {WIDTH} ", "0 0 760 "))[0].endswith("is small"), text


def channels(colour):
    """Return red, green and blue of #rrggbb."""
    return bytes.fromhex(colour[1:])


def contrast(*colours):
    """Return the contrast ratio of two colours, 1 to 21, by WCAG 2."""
    luminances = []
    for colour in colours:
        parts = [channel / 255 for channel in colour]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        luminances.append(
            sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
        )
    return (max(luminances) + 0.05) / (min(luminances) + 0.05)


@pytest.mark.parametrize("colours", COLOURS.values(), ids=COLOURS)
def test_marks_and_text_can_be_told_from_the_page(colours):
    for name in (TRAINING, HELD_OUT, LIMIT):
        assert contrast(channels(colours[name]), channels(colours[PAPER])) >= 4.5
    assert contrast(b"\0\0\0", b"\xff\xff\xff") == pytest.approx(21)
    assert contrast(b"www", b"\xff\xff\xff") == pytest.approx(4.48, abs=0.005)  # the grey #777777 just fails


@pytest.mark.parametrize("scheme", COLOURS)
def test_shares_can_be_read_in_their_cells(scheme):
    svg = (FOLDER / f"indicator-markets-{scheme}.en.svg").read_text(encoding="utf-8")
    inks = re.findall(r'fill: (#\w+)"[^>]*>[\d.]+%</text>', svg)
    shown = [(row["calls"], share) for row in EVALUATION["indicators"] for share in row["selected"]]
    for (calls, share), ink in zip(shown, inks, strict=True):
        pair = zip(channels(COLOURS[scheme][NEVER]), channels(evaluation_plot.COLOURS[calls]), strict=True)
        assert contrast(bytes(round(low + share * (high - low)) for low, high in pair), channels(ink)) >= 4.4
