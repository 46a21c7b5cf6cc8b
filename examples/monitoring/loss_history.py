"""The losses in a metrics.jsonl of any size, read in bounded time and memory."""

import json
import math
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from snippets.errors import printable
from snippets.foreign_files import open_regular

WHOLE = 1 << 20  # bytes: a file up to this size is read completely; about 6,000 steps
PEEK = 1 << 11  # bytes read at each place of a larger one; a line has about 150
TAIL = 1 << 15  # bytes read at its end
MOST = 1 << 63  # steps, bytes, processes: a number with more digits is damage
EVERYWHERE = {"step", "epoch", "loss", "lr", "samples_per_s"}  # others are results of an epoch


@dataclass
class LossHistory:
    """Steps in increasing order with their losses (None for NaN), and the newest results."""

    steps: list[int] = field(default_factory=list)
    losses: list[float | None] = field(default_factory=list)
    results: dict[str, float] = field(default_factory=dict)


def sample_lines(file: BinaryIO, places: int) -> Iterator[bytes]:
    """Yield the lines of a small `file`; of a large one, lines at `places` even distances and at its end.

    They keep their order. Incomplete lines are left out.
    """
    size = file.seek(0, os.SEEK_END)
    if size <= WHOLE:
        spans = [(0, size)]
    else:
        distance = (size - TAIL) / places
        spans = [(int(place * distance), PEEK) for place in range(places)] + [(size - TAIL, TAIL)]
    for start, length in spans:
        file.seek(start)
        lines = file.read(length).split(b"\n")
        yield from lines[0 if start == 0 else 1 : -1]


def read_history(path: Path, places: int) -> LossHistory:
    """Return the losses in `path`, about as many as a curve with `places` points needs.

    A missing file has none. Raises OSError when it cannot be read.
    """
    history = LossHistory()
    try:
        file = open_regular(path)
    except FileNotFoundError:
        return history
    with file:
        for line in sample_lines(file, places):
            values = parse(line)
            step = whole(values.get("step"))
            if step is None:
                continue
            history.steps.append(step)
            history.losses.append(finite(values.get("loss")))
            others = {
                printable(name): finite(value) for name, value in values.items() if name not in EVERYWHERE
            }
            results = {name: value for name, value in others.items() if value is not None}
            history.results = results or history.results
    return history


def parse(line: bytes) -> dict[str, Any]:
    """Return the JSON object in `line`, or an empty one for other content."""
    try:
        values = json.loads(line)
    except (ValueError, RecursionError):  # a hole in the file, or no JSON
        return {}
    return values if isinstance(values, dict) else {}


def whole(value: Any) -> int | None:
    """Return `value` if it is a whole number from 0 to below MOST, else None."""
    return value if isinstance(value, int) and 0 <= value < MOST else None


def finite(value: Any) -> float | None:
    """Return `value` as a float, or None when it is not a finite number."""
    try:
        number = float(value) if isinstance(value, int | float) else math.nan
    except OverflowError:
        return None
    return number if math.isfinite(number) else None
