"""What drawings of boxes share: sizes, text in lines, arrows."""

from __future__ import annotations

import re
from itertools import pairwise

from matplotlib.axes import Axes
from matplotlib.patches import Polygon

from tools.drawing.page import text_width

WIDTH = 360.0
SIZE = 15.0  # of the letters: 13.7 pixels where a phone leaves 328 pixels for the picture
LINE = 21.0  # from one line of text to the next
PADDING = 11.0  # between a box and its text
GAP = 14.0  # between boxes
# Pieces of a text that a line may end after: a Chinese letter or a word, each with the marks that follow it.
_PIECE = re.compile(r"(?:[\u3400-\u9fff]|[^\s\u3000-\u9fff\uff00-\uffef]+)[\u3001-\u303f\uff00-\uffef]*|\s+")


def wrapped(text: str, width: float) -> list[str]:
    """Cut a text into lines that are at most `width` wide."""
    lines = [""]
    for piece in _PIECE.findall(text):
        if lines[-1] and text_width((lines[-1] + piece).rstrip(), SIZE) > width:
            lines.append("")
        if lines[-1] or not piece.isspace():
            lines[-1] += piece
    return [line.rstrip() for line in lines]


def arrow(axes: Axes, *points: tuple[float, float], colour: str) -> None:
    """Draw a line through points, upright or level, with a head at its end."""
    (x, y), (to_x, to_y) = points[-2:]
    across, down = (to_x > x), (to_y > y)
    for start, end in pairwise(points):
        axes.plot(*zip(start, end, strict=True), color=colour, linewidth=1.5, clip_on=False)
    side, tip = (5 * down, 5 * across), (to_x + 6 * across, to_y + 6 * down)
    corners = [(to_x - side[0], to_y - side[1]), tip, (to_x + side[0], to_y + side[1])]
    axes.add_patch(Polygon(corners, facecolor=colour, edgecolor="none", clip_on=False))
