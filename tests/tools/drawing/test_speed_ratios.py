"""The picture of MLX against PyTorch is the one in the repository, and its dots stand where the data says."""

import re
from xml.etree import ElementTree

import pytest

from tools.drawing.speed_ratios import LEFT, NAMES, RIGHT, WORDS, draw, pairs, plot_area
from tools.drawing.svg_chart import COLOURS


def place(ratio):
    return plot_area(6, COLOURS["light"]).place(ratio, 0)[0]


def test_the_middle_is_equal_and_every_doubling_takes_the_same_room():
    middle = (LEFT + RIGHT) / 2
    assert place(1) == pytest.approx(middle)
    assert (place(4), place(0.25)) == (pytest.approx(RIGHT), pytest.approx(LEFT))
    assert place(2) - middle == pytest.approx((RIGHT - middle) / 2)


def test_every_measurement_has_a_dot_inside_the_axis_in_the_colour_of_the_faster():
    svg = draw("en", "light")
    found = [(float(x), colour) for x, colour in re.findall(r'<circle cx="([\d.]+)" .*?fill="(#\w+)"', svg)]
    expected = [pair for times in pairs().values() for pair in times]
    assert len(found) == len(expected) > 45
    for (x, colour), (mlx, torch) in zip(found, expected, strict=True):
        assert LEFT < x < RIGHT
        assert x == pytest.approx(place(torch / mlx), abs=0.06)
        if mlx < 0.97 * torch:
            assert colour == COLOURS["light"]["blue"]
        elif torch < 0.97 * mlx:
            assert colour == COLOURS["light"]["orange"]


@pytest.mark.parametrize("language", WORDS)
def test_every_operation_is_named(language):
    root = ElementTree.fromstring(draw(language, "dark"))
    words = {element.text for element in root.iter("{http://www.w3.org/2000/svg}text")}
    assert words >= {name[language] for name in NAMES.values()}
