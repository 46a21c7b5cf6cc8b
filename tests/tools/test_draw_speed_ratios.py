"""The picture of MLX against PyTorch is the one in the repository, and its dots stand where the data says."""

import re
from xml.etree import ElementTree

import pytest

from tools.draw_curves import COLOURS
from tools.draw_speed_ratios import FOLDER, LEFT, NAMES, RIGHT, WORDS, draw, pairs, pictures, place


def test_the_pictures_in_the_repository_are_drawn_from_the_data():
    found = pictures()
    assert len(found) == len(WORDS) * len(COLOURS) == 4
    for name, text in found.items():
        assert (FOLDER / name).read_text(encoding="utf-8") == text, "run python -m tools.draw_speed_ratios"


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
            assert colour == COLOURS["light"]["train"]
        elif torch < 0.97 * mlx:
            assert colour == COLOURS["light"]["test"]


@pytest.mark.parametrize("language", WORDS)
def test_every_operation_is_named(language):
    root = ElementTree.fromstring(draw(language, "dark"))
    words = {element.text for element in root.iter("{http://www.w3.org/2000/svg}text")}
    assert words >= {name[language] for name in NAMES.values()}


def test_the_longest_name_has_room_beside_the_axis():
    letters = max(len(name["en"]) for name in NAMES.values())
    assert 7.8 * letters <= LEFT - 14  # pixels: a wide system font at size 13
