"""The pictures of the evaluation are those in the repository, and show what the stored numbers say."""

import json
import math
import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest

from tools.drawing.evaluation import (
    BLACK,
    CELL,
    DATA,
    LEFT,
    WHITE,
    WORDS,
    blend,
    contrast,
    draw_calibration,
    draw_markets,
    panels,
)
from tools.drawing.svg_chart import COLOURS

EVALUATION = json.loads(DATA.read_text(encoding="utf-8"))
BINS = EVALUATION["calibration"]["bins"]


def rectangles(svg):
    found = re.findall(
        r'<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)" fill="(#\w+)"', svg
    )
    return [(*map(float, numbers), fill) for *numbers, fill in found]


def test_dots_stand_where_the_bins_say():
    svg = draw_calibration(EVALUATION, "en", "light")
    dots = [(float(x), float(y)) for x, y in re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)"', svg)]
    scatter, difference, _ = panels(BINS, COLOURS["light"])
    expected = [scatter.place(part["predicted"], part["observed"]) for part in BINS]
    expected += [difference.place(part["predicted"], part["observed"] - part["predicted"]) for part in BINS]
    assert len(dots) == 1 + 2 * len(BINS)  # one is in the legend
    for found, right in zip(dots[1:], expected, strict=True):
        assert found == pytest.approx(right, abs=0.06)
    for part in BINS:
        reach = abs(part["observed"] - part["predicted"]) + part["standard_error"]
        assert difference.y.low <= -reach < reach <= difference.y.high


def test_bars_are_as_high_as_the_logarithm_of_their_count():
    bars = rectangles(draw_calibration(EVALUATION, "en", "light"))
    counts = panels(BINS, COLOURS["light"])[2]
    assert [height for _, _, _, height, _ in bars] == pytest.approx(
        [math.log10(part["count"]) / math.log10(counts.y.high) * counts.height for part in BINS], abs=0.06
    )


@pytest.mark.parametrize("scheme", COLOURS)
def test_every_share_has_a_cell_that_is_fuller_the_greater_it_is_and_can_be_read(scheme):
    svg = draw_markets(EVALUATION, "en", scheme)
    cells, rows = rectangles(svg), EVALUATION["indicators"]
    shares = [share for row in rows for share in row["selected"]]
    assert len(cells) == len(shares) == 96
    assert re.findall(r">([\d.]+%)</text>", svg) == [f"{share:.0%}" for share in shares]
    assert [x for x, *_ in cells] == [LEFT + column * CELL for column in range(4)] * len(rows)
    assert all(first[1] < second[1] for first, second in pairwise(cells[::4]))
    follows = COLOURS[scheme]["blue"]
    blue = [(share, contrast(cell[4], follows)) for share, cell in zip(shares[:60], cells[:60], strict=True)]
    assert all(low[1] >= high[1] for low, high in pairwise(sorted(blue)))  # nearer to the full colour
    inks = re.findall(rf'fill="({BLACK}|{WHITE})" text-anchor="middle">[\d.]+%', svg)
    assert min(contrast(ink, cell[4]) for ink, cell in zip(inks, cells, strict=True)) >= 4.5


def test_markets_without_a_sample_are_dashes():
    row = {"name": "a", "family": "f", "calls": "with the move", "selected": [None, 0.5, None, 1.0]}
    svg = draw_markets({"regimes": EVALUATION["regimes"], "indicators": [row]}, "zh", "dark")
    assert re.findall(r">(–|\d+%)</text>", svg) == ["–", "50%", "–", "100%"]


@pytest.mark.parametrize("language", WORDS)
def test_all_words_are_written(language):
    texts = set()
    for draw in (draw_calibration, draw_markets):
        root = ElementTree.fromstring(draw(EVALUATION, language, "light"))
        texts |= {element.text for element in root.iter("{http://www.w3.org/2000/svg}text")}
    wanted = {
        word for words in WORDS[language].values() for word in ([words] if isinstance(words, str) else words)
    }
    assert texts >= wanted
    assert texts >= {row["name"] for row in EVALUATION["indicators"]}


def test_colours():
    assert blend("#000000", "#ffffff", 0.5) == "#808080"
    assert blend("#102030", "#405060", 0) == "#102030"
    assert contrast(BLACK, WHITE) == pytest.approx(21)
    assert contrast("#777777", WHITE) == pytest.approx(4.48, abs=0.005)  # the well-known grey that just fails


def test_the_stored_evaluation_is_of_the_default_run():
    """Its provenance names commands that can be repeated, and nobody's own folders."""
    assert EVALUATION["trained_by"].startswith("python examples/indicator_transformer/train.py")
    assert EVALUATION["provenance"]["command"].startswith("python examples/indicator_transformer/evaluate.py")
    assert EVALUATION["checkpoint"] == "runs/market/checkpoints/best.pt"
    assert EVALUATION["provenance"]["cpu_threads"] == 1
    losses = EVALUATION["losses"]
    assert losses["best"] < losses["network"] < losses["blind"] < losses["frequency"]
