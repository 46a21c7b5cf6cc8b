"""The language of docs/data/figures/ and docs/data/tables/: expressions over docs/data, as in Jinja.

    (results.floorplan_quality | one(name="default")).random.closed | percent

Filters are Jinja's and those of FILTERS. One that writes numbers leaves None as it is, for a dash, and writes
every number of a list or of a spread, `{median, low, high}`. Tables have more words (table_language.py).
"""

from __future__ import annotations

import re
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, wraps
from html import escape
from typing import Any

import jinja2
from jinja2 import meta
from jinja2.environment import TemplateExpression

CLEARLY_LOWER = 0.97  # of two times, as a part of the other
# What a wrong expression raises, or one that finds other data than it expects.
FAILURES = (jinja2.TemplateError, LookupError, ValueError, TypeError, ArithmeticError)


def each(write: Callable[..., Any]) -> Callable[..., Any]:
    """Return a filter of one number as one of None, of lists and of spreads, too."""

    @wraps(write)
    def written(value: Any, *options: Any) -> Any:
        if isinstance(value, Mapping):
            return {name: written(part, *options) for name, part in value.items()}
        if isinstance(value, list):
            return [written(part, *options) for part in value]
        return None if value is None else write(value, *options)

    return written


def known(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a filter that leaves None as it is."""
    return lambda value, *options: None if value is None else function(value, *options)


def count(value: float) -> str:
    """Return a number without decimals, in groups of three digits: "36,130"."""
    return f"{float(value):,.0f}"


def fixed(value: float, decimals: int = 1) -> str:
    """Return a number with so many decimals: "18.4"."""
    return f"{float(value):,.{decimals}f}"


def percent(value: float, decimals: int = 1) -> str:
    """Return a share in percent: 0.798 is "79.8%"."""
    return f"{float(value):.{decimals}%}"


def digits(value: float, number: int = 3) -> str:
    """Return a number with so many significant digits, without an exponent: "0.0123", "45.6", "1,234"."""
    if value >= 10 ** (number - 1):
        return f"{value:,.0f}"
    shift = 0
    while value and value * 10**shift < 10 ** (number - 1):
        shift += 1
    return f"{value:.{shift}f}"


def column(table: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return a column of a table as in docs/data/published_speeds.yaml by the first cell of each row.

    Names are the English ones; null is left out. Raises ValueError unless one column has that name.
    """
    heads, *rows = [
        [cell["en"] if isinstance(cell, dict) else cell for cell in row]
        for row in (table["columns"], *table["rows"])
    ]
    if heads.count(name) != 1:
        raise ValueError(f"{heads.count(name)} columns are called {name}; exactly one is needed")
    place = heads.index(name)
    return {str(row[0]): row[place] for row in rows if row[place] is not None}


def ratios(pairs: Mapping[str, tuple[float, float]]) -> list[float]:
    """Return the second value of each pair in a column, divided by the first."""
    return [second / first for first, second in pairs.values()]


def one(entries: Iterable[Mapping[str, Any]], **wanted: Any) -> Mapping[str, Any]:
    """Return the only entry that has these values. Raises ValueError for none or several."""
    found = [entry for entry in entries if wanted.items() <= entry.items()]
    if len(found) != 1:
        raise ValueError(f"{len(found)} entries have {wanted}; exactly one is needed")
    return found[0]


def find(text: str, pattern: str) -> str:
    """Return what the parentheses of a pattern match in its first place, `^` being the beginning of a line.

    Raises ValueError where the pattern has no place.
    """
    if (match := re.search(pattern, text, re.MULTILINE)) is None:
        raise ValueError(f"nothing matches {pattern}")
    return match[1]


def minus(values: Sequence[float], others: Sequence[float]) -> list[float]:
    """Return the differences of two lists of equal length, such as one score for each seed in both."""
    return [value - other for value, other in zip(values, others, strict=True)]


def form(value: Any, specification: str) -> str:
    """Return a value in one of Python's formats, such as "+.1f"."""
    return format(value, specification)


def times(value: float, factor: float) -> float:
    """Return a number in another unit."""
    return value * factor


def ms(seconds: float) -> str:
    """Return seconds in ms, with three digits."""
    return digits(1e3 * seconds)


def gb(count: float) -> str:
    """Return bytes in GB, with up to three digits."""
    return f"{count * 1e-9:,.3g} GB"


def mb(count: float) -> str:
    """Return bytes in MB."""
    return f"{count * 1e-6:,.1f} MB"


def unit(text: str, name: str) -> str:
    """Return a written number with its unit."""
    return f"{text} {name}"


def foreign(text: str, language: str) -> str:
    """Return words of another language with its code, for screen readers."""
    return f'<span lang="{language}">{escape(text, quote=False)}</span>'


def duration(seconds: float) -> str:
    """Return seconds in a unit with few digits: "47 s", "13 min", "2.6 h"."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 3600 else f"{seconds / 3600:.1f} h"


def with_deviation(shares: Sequence[float], unit: str = "") -> str:
    """Return shares (0 to 1) in percent, as mean and sample standard deviation."""
    return f"{100 * statistics.fmean(shares):.2f}{unit} ± {100 * statistics.stdev(shares):.2f}"


def inner(entries: Sequence[Mapping[str, Any]], *parts: str) -> list[Any]:
    """Return the rows in these parts of each entry, each with its `entry` and the name of its `part`."""
    return [
        {**row, "entry": entry, "part": part}
        for entry in entries
        for part in parts
        for row in (entry[part] if isinstance(entry[part], list) else [entry[part]])
    ]


def of_way(rows: Sequence[Mapping[str, Any]], way: str, value: str) -> Any:
    """Return a value of the row about one way, or None."""
    return next((row.get(value) for row in rows if row["way"] == way), None)


def share(part: float, whole: float) -> float | None:
    """Return a part of a whole, or None of nothing."""
    return part / whole if whole else None


def lower_bold(pair: Any, decimals: int) -> Any:
    """Return a pair of times as text, the clearly lower one bold; everything else as it is."""
    if not isinstance(pair, list):
        return pair
    return " / ".join(
        f"**{time:.{decimals}f}**" if time < CLEARLY_LOWER * other else f"{time:.{decimals}f}"
        for time, other in zip(pair, reversed(pair), strict=True)
    )


def at(values: Sequence[float], place: Any) -> float:
    """Return one of several values, or of all the mean."""
    return statistics.fmean(values) if place == "mean" else values[place]


def around(values: Sequence[float]) -> dict[str, float]:
    """Return the mean of differences and the extremes, as a spread."""
    return {"median": statistics.fmean(values), "low": min(values), "high": max(values)}


OF_NUMBERS = (count, digits, duration, fixed, form, gb, mb, ms, percent, times, unit)
OTHERS = (at, column, find, foreign, inner, lower_bold, minus, of_way, one, ratios, share)
FILTERS: dict[str, Callable[..., Any]] = {
    **{write.__name__: each(write) for write in OF_NUMBERS},
    **{function.__name__: function for function in OTHERS},
    "around": known(around),
    "mean": known(statistics.fmean),
    "median": known(statistics.median),
    "with_deviation": known(with_deviation),
}


def environment() -> jinja2.Environment:
    """Return Jinja's language with FILTERS, in which an unknown name is an error."""
    found = jinja2.Environment(undefined=jinja2.StrictUndefined, autoescape=False)
    found.filters |= FILTERS
    return found


@cache
def compiled(
    language: jinja2.Environment, source: str, *, text: bool = False
) -> tuple[Callable[..., Any], set[str]]:
    """Return a function that evaluates an expression or fills in a text, and the names that it needs."""
    parsed = language.parse(source if text else f"{{% set result = {source} %}}")
    needed = meta.find_undeclared_variables(parsed) - language.globals.keys()
    template = jinja2.Template.from_code(language, language.compile(parsed), language.globals)
    return template.render if text else TemplateExpression(template, undefined_to_none=False), needed
