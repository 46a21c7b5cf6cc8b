"""Figures in prose: a page writes `{{ plans.closed }}`, and docs/data/figures/plans.yaml says what that is.

Each name stands for an expression over docs/data in Jinja's language, so that the two languages and a result
cannot disagree:

    closed: (results.floorplan_quality | one(name="default")).random.closed | percent
    parameters: computed.plans.parameters.nodes | count
    loss: recorded.plans | find("^done +loss ([0-9.]+)")

`results.NAME` is docs/data/results/NAME.yaml or .json, `recorded.NAME` the text of a recorded output; filters
are Jinja's and those of FILTERS. What a program computes, such as the size of a network, is in
docs/data/computed, which its test compares with it.
"""

import json
import re
import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
from jinja2 import meta

from tools.read_yaml import read_yaml

DATA = Path(__file__).resolve().parents[1] / "docs" / "data"
FIGURE = re.compile(r"\{\{ *(?P<name>[\w.]+) *\}\}")
LIKE_A_FIGURE = re.compile(r"(?<!\$)\{\{[^{}\n]*\}\}")  # `${{ … }}` belongs to GitHub's workflows


class FigureError(ValueError):
    """A figure is unknown, or its expression fails; the message names it and what to do."""


READERS: dict[str, Callable[[Path], Any]] = {  # of a recording, which has two files, the output is read
    ".txt": lambda file: file.read_text(encoding="utf-8"),
    ".yaml": read_yaml,
    ".json": lambda file: json.loads(file.read_text(encoding="utf-8")),
}


class Files(Mapping[str, Any]):
    """The files of a folder by their names, each read once, when it is asked for; folders likewise."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.known: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self.known:
            self.known[name] = self._content(name)
        return self.known[name]

    def _content(self, name: str) -> Any:
        if (folder := self.folder / name).is_dir():
            return Files(folder)
        for ending, read in READERS.items():
            if (file := self.folder / f"{name}{ending}").is_file():
                return read(file)
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return (path.stem for path in sorted(self.folder.iterdir()))

    def __len__(self) -> int:
        return len(list(self.folder.iterdir()))


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

    Names are the English ones; null is left out. Raises FigureError unless one column has that name.
    """
    heads, *rows = [
        [cell["en"] if isinstance(cell, dict) else cell for cell in row]
        for row in (table["columns"], *table["rows"])
    ]
    if heads.count(name) != 1:
        raise FigureError(f"{heads.count(name)} columns are called {name}; exactly one is needed")
    place = heads.index(name)
    return {str(row[0]): row[place] for row in rows if row[place] is not None}


def ratios(pairs: Mapping[str, tuple[float, float]]) -> list[float]:
    """Return the second value of each pair in a column, divided by the first."""
    return [second / first for first, second in pairs.values()]


def one(entries: Iterable[Mapping[str, Any]], **wanted: Any) -> Mapping[str, Any]:
    """Return the only entry that has these values. Raises FigureError for none or several."""
    found = [entry for entry in entries if wanted.items() <= entry.items()]
    if len(found) != 1:
        raise FigureError(f"{len(found)} entries have {wanted}; exactly one is needed")
    return found[0]


def find(text: str, pattern: str) -> str:
    """Return what the parentheses of a pattern match in its first place, `^` being the beginning of a line.

    Raises FigureError where the pattern has no place.
    """
    if (match := re.search(pattern, text, re.MULTILINE)) is None:
        raise FigureError(f"nothing matches {pattern}")
    return match[1]


def minus(values: Sequence[float], others: Sequence[float]) -> list[float]:
    """Return the differences of two lists of equal length, such as one score for each seed in both."""
    return [value - other for value, other in zip(values, others, strict=True)]


FILTERS: dict[str, Callable[..., Any]] = {
    "column": column,
    "count": count,
    "digits": digits,
    "find": find,
    "fixed": fixed,
    "mean": statistics.fmean,
    "median": statistics.median,
    "minus": minus,
    "one": one,
    "percent": percent,
    "ratios": ratios,
}


def environment() -> jinja2.Environment:
    """Return Jinja's language with FILTERS, in which an unknown name is an error."""
    found = jinja2.Environment(undefined=jinja2.StrictUndefined, autoescape=False)
    found.filters |= FILTERS
    return found


@cache
def figures(data: Path = DATA) -> dict[str, str]:
    """Return the text of every figure by `group.name`. Raises FigureError for an expression that fails."""
    language = environment()
    files = Files(data)
    found = {}
    for group, expressions in files["figures"].items():
        for name, expression in expressions.items():
            try:
                parsed = language.parse(f"{{{{ {expression} }}}}")
                needed = {file: files[file] for file in meta.find_undeclared_variables(parsed)}
                value = language.compile_expression(expression, undefined_to_none=False)(**needed)
                found[f"{group}.{name}"] = str(value)
            except (jinja2.TemplateError, LookupError, ValueError, TypeError, ArithmeticError) as error:
                raise FigureError(f"docs/data/figures/{group}.yaml: {name}: {expression}: {error}") from error
    return found


def with_figures(markdown: str, data: Path = DATA) -> str:
    """Return the text of a page with its figures. Raises FigureError for one that is unknown."""

    def text(match: re.Match[str]) -> str:
        name = FIGURE.fullmatch(match[0])
        known = figures(data)
        if name is None or name["name"] not in known:
            raise FigureError(
                f"{match[0]} is no figure: write it as group.name and add the name "
                "to docs/data/figures/group.yaml"
            )
        return known[name["name"]]

    return LIKE_A_FIGURE.sub(text, markdown)
