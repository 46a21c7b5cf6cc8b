"""What the expressions of docs/data/tables/ may use beside those of figures (tools/expressions.py).

Words of both languages, and functions that read what is no plain data.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import jinja2
import origins
from benchmark_files import of_training
from indicator_sizes import indicator_sizes
from jinja2 import pass_context
from operator_tables import operator_releases
from rendering import MISSING, TableError
from shell_sections import shell_blocks
from source_links import links
from time_and_cost import macs, on_a_mac, work_per_step

from examples.systems import measured_trainings
from tools import expressions, ranges
from tools.versions import releases

LANGUAGES = ("en", "zh")
Names = Mapping[str, Any]
RANGE = {"en": "{} to {}", "zh": "{} 到 {}"}
SPREAD = {"en": "{median} ({low} to {high})", "zh": "{median}（{low} 到 {high}）"}


def in_language(value: Any, language: str) -> Any:
    """Return a text in `language`, and everything else as it is. Raises TableError where one is missing."""
    if not isinstance(value, Mapping) or value.keys().isdisjoint(LANGUAGES):
        return value
    if value.keys() != {*LANGUAGES}:
        raise TableError(f"{value}: a text needs {' and '.join(LANGUAGES)}, and nothing else")
    return value[language]


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


FILTERS = {"range": limits, "spread": spread}
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
    """Return the language of expressions with these filters and functions, and texts in both languages."""
    found = expressions.environment()
    found.filters |= FILTERS
    found.globals |= FUNCTIONS
    found.finalize = pass_context(
        lambda context, value: MISSING if value is None else in_language(value, context["language"])
    )
    return found
