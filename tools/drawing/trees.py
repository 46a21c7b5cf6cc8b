"""Decision trees: checks from top to bottom, with what each leads to, as a picture and in words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Polygon

from tools.drawing.page import Part, canvas, resize, text_width

WIDTH = 360.0
SIZE = 15.0  # of the letters: 13.7 pixels where a phone leaves 328 pixels for the picture
LINE = 21.0  # from one line of text to the next
PADDING = 11.0  # between a box and its text
GAP = 14.0  # between boxes
SPINE = 20.0  # x of the line that leads from check to check
BRANCH = 78.0  # x where the boxes of what a check leads to begin
WORDS = {
    "en": {"tree": "Decision tree: ", True: "Yes: ", False: "No: ", "otherwise": "Otherwise: "}
    | {"stop": ".", "number": "{}. ", "between": " "},
    "zh": {"tree": "决策树：", True: "是：", False: "否：", "otherwise": "否则："}
    | {"stop": "。", "number": "（{}）", "between": ""},
}
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


def box(axes: Axes, left: float, top: float, text: str, colour: str, **style: Any) -> float:
    """Draw a box from `left` to the right edge around a text; return where it ends below."""
    lines = wrapped(text, WIDTH - left - 3 * PADDING)
    right, bottom = WIDTH - bool(left), top + 2 * PADDING + LINE * len(lines)
    corners = [(left, top), (right, top), (right, bottom), (left, bottom)]
    axes.add_patch(Polygon(corners, closed=True, clip_on=False, **style))
    for row, line in enumerate(lines):
        write(axes, left + PADDING, top + PADDING + LINE * (row + 0.5), line, colour)
    return bottom


def write(axes: Axes, x: float, middle: float, text: str, colour: str) -> None:
    """Write a line of text that begins at `x`; `middle` is that of its capital letters."""
    axes.text(x, middle + 0.35 * SIZE, text, color=colour, size=SIZE)


def arrow(axes: Axes, *points: tuple[float, float], colour: str) -> None:
    """Draw a line through points, upright or level, with a head at its end."""
    (x, y), (to_x, to_y) = points[-2:]
    across, down = (to_x > x), (to_y > y)
    for start, end in pairwise(points):
        axes.plot(*zip(start, end, strict=True), color=colour, linewidth=1.5, clip_on=False)
    side, tip = (5 * down, 5 * across), (to_x + 6 * across, to_y + 6 * down)
    corners = [(to_x - side[0], to_y - side[1]), tip, (to_x + side[0], to_y + side[1])]
    axes.add_patch(Polygon(corners, facecolor=colour, edgecolor="none", clip_on=False))


def draw(figure: Figure, part: Part) -> None:
    """Draw a tree, as high as it becomes."""
    tree, language, colours = part.data(), part.language, part.colours
    axes, y = canvas(figure), 0.0
    framed = {"fill": False, "edgecolor": colours["blue"], "linewidth": 1.5}
    for number, check in enumerate(tree["checks"], start=1):
        question = f"{number}. {check['question'][language]}"
        bottom = box(axes, 0, y, question, colours["ink"], facecolor=colours["box"], edgecolor="none")
        y = bottom + GAP
        entry = y + PADDING + LINE
        arrow(axes, (SPINE, entry), (BRANCH - 7, entry), colour=colours["grey"])
        answers = [part.say(word) for word in (("yes", "no") if check["leads"] else ("no", "yes"))]
        write(axes, SPINE + 10, entry - LINE / 2 - 3, answers[0], colours["ink"])
        y = box(axes, BRANCH, y, check["then"][language], colours["blue"], **framed) + 2 * GAP
        arrow(axes, (SPINE, bottom), (SPINE, y - 7), colour=colours["grey"])
        write(axes, SPINE + 10, y - GAP, answers[1], colours["ink"])
    y = box(axes, 1, y, tree["end"][language], colours["blue"], **framed)
    resize(figure, axes, WIDTH, y + 1)


def described(tree: Mapping[str, Any], language: str) -> str:
    """Return a tree in words: what its picture shows."""
    words: Mapping[Any, str] = WORDS[language]
    title = tree["title"][language]
    parts = [words["tree"] + title + ("" if title[-1] in "?？" else words["stop"])]
    for number, check in enumerate(tree["checks"], start=1):
        parts += [words["number"].format(number) + check["question"][language]]
        parts += [words[check["leads"]] + check["then"][language]]
    return words["between"].join([*parts, words["otherwise"] + tree["end"][language]])
