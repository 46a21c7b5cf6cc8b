"""What those share that render data as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

MISSING = "–"  # in a cell for which there is no value


class TableError(ValueError):
    """A table cannot be made; the message names its file, what is wrong in it, and why."""


def code_span(text: str) -> str:
    """Return text as inline code, whatever backticks it has."""
    mark = "`"
    while mark in text:
        mark += "`"
    return f"{mark} {text} {mark}" if "`" in text else f"{mark}{text}{mark}"


def table(head: Sequence[Any], rows: Iterable[Sequence[Any]], right: Iterable[int] = ()) -> str:
    """Return a Markdown table; the columns of these places are aligned to the right."""
    marks = ["---:" if place in set(right) else "---" for place in range(len(head))]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in (head, marks, *rows))


def written(value: Any) -> str:
    """Return a text as it is, and a number with three digits or more."""
    if isinstance(value, str):
        return value
    return f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.3g}"
