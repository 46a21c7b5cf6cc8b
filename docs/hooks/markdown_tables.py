"""Markdown tables whose columns are data: a heading in each language, what stands in a row, and how."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

MISSING = "–"  # in a cell for which there is no value
RANGE = {"en": "{} to {}", "zh": "{} 到 {}"}
SPREAD = {"en": "{median} ({low} to {high})", "zh": "{median}（{low} 到 {high}）"}


def table(head: Sequence[str], rows: Iterable[Sequence[str]], *, right: bool = True) -> str:
    """Return a Markdown table; with `right`, all columns but the first are aligned to the right, for numbers.

    Raises ValueError for a row that does not fit the head: its values would stand under wrong headings.
    """
    rows = list(rows)
    for row in rows:
        if len(row) != len(head):
            raise ValueError(f"{len(row)} cells under {len(head)} headings: {row}")
    lines = [head, ["---", *["---:" if right else "---"] * (len(head) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def figures(value: float, digits: int = 3) -> str:
    """Return a number with so many significant digits, without an exponent: "0.0123", "45.6", "1,234"."""
    if value >= 10 ** (digits - 1):
        return f"{value:,.0f}"
    shift = 0
    while value and value * 10**shift < 10 ** (digits - 1):
        shift += 1
    return f"{value:.{shift}f}"


def milliseconds(seconds: float) -> str:
    """Return seconds in ms, with three digits."""
    return figures(1e3 * seconds)


def written(form: str, scale: float = 1) -> Callable[[float], str]:
    """Return a function that writes a number, times `scale`, in a format such as ",.1f"."""
    return lambda value: f"{value * scale:{form}}"


@dataclass(frozen=True)
class Column:
    """One column. A value that a row lacks, or that is None, is a dash."""

    en: str  # the heading
    zh: str
    key: Any  # of the value in a row, or of several values for one cell
    number: Callable[[Any], Any] = lambda value: value  # writes each value, perhaps in both languages
    form: str | Mapping[str, str] = "{}"  # around them, if need be in each language

    def cell(self, row: Mapping[Any, Any], language: str) -> str:
        """Return what stands in this column of `row`: of a spread its parts, of a text that in `language`."""
        values = [row.get(key) for key in (self.key if isinstance(self.key, tuple) else (self.key,))]
        if None in values:
            return MISSING
        form = self.form if isinstance(self.form, str) else self.form[language]
        first = values[0]
        if isinstance(first, Mapping) and language not in first:
            return form.format(**{name: self.number(value) for name, value in first.items()})
        written = (value if isinstance(value, Mapping) else self.number(value) for value in values)
        return form.format(*(text[language] if isinstance(text, Mapping) else text for text in written))


def table_of(
    columns: Iterable[Column], rows: Iterable[Mapping[Any, Any]], language: str, *, right: bool = True
) -> str:
    """Return the Markdown table of `rows` in `language` ("en" or "zh")."""
    columns = list(columns)
    cells = [[column.cell(row, language) for column in columns] for row in rows]
    return table([getattr(column, language) for column in columns], cells, right=right)
