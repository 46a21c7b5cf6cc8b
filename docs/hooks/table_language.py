"""What the expressions of docs/data/tables/ may use beside Jinja's own: filters and functions.

A filter that writes numbers leaves None as it is, for a dash, and writes every number of a list or of a
spread, `{median, low, high}`: `seconds | ms | spread`.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from functools import cache, wraps
from html import escape
from typing import Any

import jinja2
import origins
from benchmark_files import of_training
from indicator_sizes import indicator_sizes
from jinja2 import pass_context
from operator_tables import operator_releases
from shell_sections import shell_blocks
from source_links import links
from time_and_cost import macs, on_a_mac, work_per_step

from examples.systems import measured_trainings
from tools import figures, ranges
from tools.versions import releases

LANGUAGES = ("en", "zh")
MISSING = "–"  # in a cell for which there is no value
Names = Mapping[str, Any]
CLEARLY_LOWER = 0.97  # of two times, as a part of the other
RANGE = {"en": "{} to {}", "zh": "{} 到 {}"}
SPREAD = {"en": "{median} ({low} to {high})", "zh": "{median}（{low} 到 {high}）"}


class TableError(ValueError):
    """A table cannot be made; the message names its file, what is wrong in it, and why."""


def in_language(value: Any, language: str) -> Any:
    """Return a text in `language`, and everything else as it is. Raises TableError where one is missing."""
    if not isinstance(value, Mapping) or value.keys().isdisjoint(LANGUAGES):
        return value
    if value.keys() != {*LANGUAGES}:
        raise TableError(f"{value}: a text needs {' and '.join(LANGUAGES)}, and nothing else")
    return value[language]


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


def form(value: Any, specification: str) -> str:
    """Return a value in one of Python's formats, such as "+.1f"."""
    return format(value, specification)


def times(value: float, factor: float) -> float:
    """Return a number in another unit."""
    return value * factor


def ms(seconds: float) -> str:
    """Return seconds in ms, with three digits."""
    return figures.digits(1e3 * seconds)


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


def total(counts: Sequence[Mapping[str, int]], *kinds: str) -> int:
    """Return how many there are of some kinds, in several counts."""
    return sum(count.get(kind, 0) for count in counts for kind in kinds)


def at(values: Sequence[float], place: Any) -> float:
    """Return one of several values, or of all the mean."""
    return statistics.fmean(values) if place == "mean" else values[place]


def around(values: Sequence[float]) -> dict[str, float]:
    """Return the mean of differences and the extremes, as a spread."""
    return {"median": statistics.fmean(values), "low": min(values), "high": max(values)}


@pass_context
def spread(context: Names, parts: Mapping[str, str] | None) -> str | None:
    """Return a written spread as `median (low to high)`."""
    return parts and SPREAD[context["language"]].format(**parts)


@pass_context
def limits(context: Names, pair: Sequence[str | None]) -> str | None:
    """Return a range of two written numbers."""
    return None if None in pair else RANGE[context["language"]].format(*pair)


def in_words(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function whose last argument is the language as one that takes it from the table."""
    return pass_context(lambda context, *values: function(*values, context["language"]))


def named(name: Any, sentence: str, language: str) -> str:
    """Return a sentence with what it is about before it, a text in both languages or a plain one."""
    return origins.named(in_language(name, language), sentence, language)


def training_title(system: str, part: Mapping[str, Any]) -> dict[str, str]:
    """Return what was trained, in words of both languages; `part` is a measurement of its loop."""
    words = part["words"]
    given = dict(zip(words[::2], words[1::2], strict=True))
    width, batch = given.get("--width", 8), given.get("--batch-size", 64)
    texts = {case.name: case.title for case in measured_trainings(system)}[part["data"]]
    return {code: text.format(width=width, batch=batch) for code, text in texts.items()}


FILTERS = {
    **{
        write.__name__: each(write)
        for write in (
            figures.count,
            figures.digits,
            figures.fixed,
            figures.percent,
            duration,
            form,
            times,
            ms,
            gb,
            mb,
            unit,
        )
    },
    "mean": known(statistics.fmean),
    "median": known(statistics.median),
    "around": known(around),
    "at": at,
    "foreign": foreign,
    "inner": inner,
    "lower_bold": lower_bold,
    "of_way": of_way,
    "range": limits,
    "share": share,
    "total": total,
    "with_deviation": known(with_deviation),
    "spread": spread,
}
FUNCTIONS = {
    "benchmarks": of_training,
    "indicator_sizes": indicator_sizes,
    "links": links,
    "macs": macs,
    "named": in_words(named),
    "on_a_mac": on_a_mac,
    "operator_releases": operator_releases,
    "origin": in_words(origins.origin),
    "processor": in_words(origins.processor),
    "shell_blocks": shell_blocks,
    "since": in_words(ranges.since),
    "tf32": in_words(origins.tf32),
    "torch_releases": releases,
    "training_title": training_title,
    "work_per_step": work_per_step,
}


@cache
def environment() -> jinja2.Environment:
    """Return the language of the figures with these filters and functions, and texts in both languages."""
    found = figures.environment()
    found.filters |= FILTERS
    found.globals |= FUNCTIONS
    found.finalize = pass_context(
        lambda context, value: MISSING if value is None else in_language(value, context["language"])
    )
    return found
