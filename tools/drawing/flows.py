"""Flows: what becomes of data, row by row of boxes from top to bottom, with an arrow between rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Polygon

from tools.drawing.boxes import GAP, LINE, PADDING, SIZE, WIDTH, arrow, wrapped
from tools.drawing.page import Part, canvas, resize

SIZES = {"text": SIZE, "note": 14.0}  # of the letters: at least 12.7 pixels where a phone leaves 328 pixels
Box = Mapping[str, object]  # text by language; `note`, if any, a second text by language


def lines_of(box: Box, language: str, width: float) -> list[tuple[str, str]]:
    """Return the lines of a box that are at most `width` wide, each with what it is: text or note."""
    texts = [("text", str(box[language]))]
    if isinstance(note := box.get("note"), Mapping):
        texts.append(("note", note[language]))
    return [(what, line) for what, text in texts for line in wrapped(text, width)]


def draw_row(axes: Axes, boxes: Sequence[Box], top: float, part: Part) -> float:
    """Draw boxes of equal width and height side by side; return where they end below."""
    width = (WIDTH - GAP * (len(boxes) - 1)) / len(boxes)
    lines = [lines_of(box, part.language, width - 1.2 * PADDING) for box in boxes]
    bottom = top + 2 * PADDING + LINE * max(map(len, lines))
    for number, written in enumerate(lines):
        left = number * (width + GAP)
        corners = [(left, top), (left + width, top), (left + width, bottom), (left, bottom)]
        axes.add_patch(
            Polygon(corners, facecolor=part.colours["box"], edgecolor=part.colours["blue"], clip_on=False)
        )
        middle = (top + bottom - LINE * len(written)) / 2
        for row, (what, line) in enumerate(written):
            axes.text(
                left + width / 2,
                middle + LINE * (row + 0.5) + 0.35 * SIZES[what],
                line,
                color=part.colours["ink" if what == "text" else "grey"],
                size=SIZES[what],
                ha="center",
            )
    return bottom


def draw(figure: Figure, part: Part) -> None:
    """Draw a flow, as high as it becomes."""
    axes, y = canvas(figure), 1.0
    for number, boxes in enumerate(part.spec["rows"]):
        if number:
            arrow(axes, (WIDTH / 2, y + 3), (WIDTH / 2, y + 2 * GAP - 9), colour=part.colours["grey"])
            y += 2 * GAP
        y = draw_row(axes, boxes, y, part)
    resize(figure, axes, WIDTH, y + 1)
