"""Time lines: what several workers do at the same time, from left to right, a lane of boxes for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Polygon

from tools.drawing.boxes import GAP, LINE, SIZE, WIDTH, wrapped
from tools.drawing.page import Part, canvas, resize

EDGE = 3.0  # pixels between a box and its text, and between two boxes
Lane = Mapping[str, Any]  # name by language, `spans`: start, end, text by language (none: the lane waits)


def draw_lane(axes: Axes, lane: Lane, top: float, scale: float, part: Part) -> float:
    """Draw a lane's name and its boxes, all as high as the highest; return where they end below."""
    axes.text(0, top + SIZE, lane[part.language], color=part.colours["grey"], size=SIZE)
    spans: Sequence[Sequence[Any]] = lane["spans"]
    texts = [
        wrapped(text[0][part.language], (end - start) * scale - 3 * EDGE) if text else []
        for start, end, *text in spans
    ]
    top += LINE + 2
    height = LINE * max(map(len, texts)) + 2 * EDGE
    for (start, end, *_), lines in zip(spans, texts, strict=True):
        left, right = start * scale, end * scale - EDGE
        corners = [(left, top), (right, top), (right, top + height), (left, top + height)]
        style = {"facecolor": part.colours["box"]} if lines else {"facecolor": "none", "linestyle": "--"}
        axes.add_patch(Polygon(corners, edgecolor=part.colours["blue"], clip_on=False, **style))
        first = top + (height - LINE * len(lines)) / 2
        for row, line in enumerate(lines):
            place = (left + right) / 2, first + LINE * (row + 0.5) + 0.35 * SIZE
            axes.text(*place, line, color=part.colours["ink"], size=SIZE, ha="center")
    return top + height


def draw(figure: Figure, part: Part) -> None:
    """Draw the lanes one below the other, and a dashed line with a text below for each mark."""
    axes, y = canvas(figure), 0.0
    lanes = part.spec["lanes"]
    scale = WIDTH / max(end for lane in lanes for _, end, *_ in lane["spans"])
    for lane in lanes:
        y = draw_lane(axes, lane, y, scale, part) + GAP / 2
    for mark in part.spec.get("marks", ()):
        x = mark["at"] * scale - EDGE / 2
        axes.plot((x, x), (LINE, y), color=part.colours["orange"], linestyle="--", clip_on=False)
        for line in wrapped(mark[part.language], WIDTH):
            axes.text(0, y + SIZE, line, color=part.colours["orange"], size=SIZE)
            y += LINE
    resize(figure, axes, WIDTH, y + 1)
