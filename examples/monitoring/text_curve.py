"""A curve drawn in characters: Braille patterns, each of 2 by 4 dots, or plain ASCII."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

GUTTER = 9  # characters left of the curve, for the values of its limits
LOG_RANGE = 100  # from this ratio of largest to smallest value, the scale is logarithmic
LEAST_WIDTH, LEAST_HEIGHT = GUTTER + 20, 3  # smaller curves are unreadable

Dot = tuple[int, int]  # column and row, from the upper left corner


@dataclass(frozen=True)
class Characters:
    """The characters for dots: a cell of text shows `columns` by `rows` dots."""

    columns: int
    rows: int
    bits: tuple[tuple[int, ...], ...]  # [row][column]
    alphabet: str  # the character whose dots have these bits

    def cell(self, bits: int) -> str:
        """Return the character that shows the dots with these bits."""
        return self.alphabet[bits]


# Unicode numbers the patterns by their dots. The empty one becomes a space: some fonts draw circles for it.
BRAILLE_PATTERNS = " " + "".join(map(chr, range(0x2801, 0x2900)))
BRAILLE = Characters(2, 4, ((1, 8), (2, 16), (4, 32), (64, 128)), BRAILLE_PATTERNS)
ASCII = Characters(1, 2, ((1,), (2,)), " '.:")


def draw_curve(
    steps: Sequence[int],
    values: Sequence[float | None],
    width: int,
    height: int,
    characters: Characters = BRAILLE,
) -> list[str]:
    """Return `height` lines of up to `width` characters: a curve of `values` over `steps`, and its ends.

    Values between which one is None are not connected. Without values or room there are no lines.
    """
    known = [value for value in values if value is not None]
    if not known or width < LEAST_WIDTH or height < LEAST_HEIGHT:
        return []
    low, high, first, last = min(known), max(known), min(steps), max(steps)
    logarithmic = low > 0 and high / LOG_RANGE >= low  # in this order nothing overflows
    columns, rows = (width - GUTTER) * characters.columns, (height - 1) * characters.rows

    def dot(step: int, value: float) -> Dot:
        """Return the dot of a value; a single value is in the middle."""
        share = (step - first) / (last - first) if last > first else 0.0
        if high == low:
            depth = 0.5
        elif logarithmic:
            depth = (math.log(high) - math.log(value)) / (math.log(high) - math.log(low))
        else:
            depth = (high / 2 - value / 2) / (high / 2 - low / 2)  # halves: a difference may be too large
        return round(share * (columns - 1)), round(depth * (rows - 1))

    pieces: list[list[Dot]] = [[]]
    for step, value in zip(steps, values, strict=True):
        if value is None:
            pieces.append([])
        else:
            pieces[-1].append(dot(step, value))
    lines = characters_of({dot for piece in pieces for dot in connect(piece)}, columns, rows, characters)
    limits = (
        {0: f"{high:.4g}", len(lines) - 1: f"{low:.4g}"} if high > low else {len(lines) // 2: f"{low:.4g}"}
    )
    shown = [f"{limits.get(number, ''):>{GUTTER - 1}} {line}".rstrip() for number, line in enumerate(lines)]
    return [*shown, axis(first, last, width, "step (loss: logarithmic)" if logarithmic else "step")]


def connect(points: list[Dot]) -> set[Dot]:
    """Return the dots of straight lines between neighbouring points."""
    dots = set(points)
    for (column, row), (next_column, next_row) in pairwise(points):
        length = max(abs(next_column - column), abs(next_row - row))
        for part in range(1, length):
            across, down = (next_column - column) * part, (next_row - row) * part
            dots.add((column + round(across / length), row + round(down / length)))
    return dots


def characters_of(dots: set[Dot], columns: int, rows: int, characters: Characters) -> list[str]:
    """Return the lines of text that show `dots`."""
    cells = [[0] * (columns // characters.columns) for _ in range(rows // characters.rows)]
    for column, row in dots:
        bit = characters.bits[row % characters.rows][column % characters.columns]
        cells[row // characters.rows][column // characters.columns] |= bit
    return ["".join(map(characters.cell, line)) for line in cells]


def axis(first: int, last: int, width: int, name: str) -> str:
    """Return the line below a curve, with the first step, the name of the axis and the last step."""
    left, right = f"{first:,}", f"{last:,}"
    return " " * GUTTER + left + name.center(width - GUTTER - len(left) - len(right)) + right
