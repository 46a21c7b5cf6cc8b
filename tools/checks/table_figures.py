"""Compare figures in sentences with the table that they are about.

A paragraph that quotes the head of a column as code, and then gives a figure with a decimal point or percent
sign, means a value of that column, or a rounding of it. Tables are those of the same section, rendered from
docs/data/ or written in Markdown, and the recorded outputs that the pages of the same folder show.

Heads that are not quoted, rows, and columns with other words than figures are left alone: sentences about
these mostly give differences, factors and figures from elsewhere. A figure of that kind stands before the
quoted head, or in another paragraph.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import pairwise
from pathlib import Path

from tools.checks.markdown_fences import find_fences
from tools.checks.page_code import RECORDED
from tools.checks.page_reader import read_markdown
from tools.checks.readings import TABLE_MARKER

ROOT = Path(__file__).resolve().parents[2]
_FIGURE = r"(?<![\w.,/–-])(?P<figure>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)(?P<percent>%?)(?![\w.]*[\w])"
_TOKEN = re.compile(rf"`(?P<code>[^`\n]+)`|\]\([^)\s]*\)|{_FIGURE}")
_BARE = re.compile(
    r"[\d.,%\s()±–+-]*(?:to)?[\d.,%\s()±–+-]*"
)  # the cell of a column of figures: 1.2 (0.9 to 1.4)
_NUMBER = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?")

Values = dict[str, set[Decimal]]  # by the head of the column, in small letters


@dataclass
class Result:
    """What differs, and how many figures were compared."""

    defects: list[str] = field(default_factory=list)
    compared: int = 0


def _plain(text: str) -> str:
    return re.sub(r"[`*]", "", text).strip().lower()


def _numbers(text: str) -> set[Decimal]:
    return {Decimal(number.replace(",", "")) for number in _NUMBER.findall(text)}


def values_of(rows: Iterable[list[str]]) -> Values:
    """Return the numbers of a table, whose first row is its head, by column."""
    found: Values = {}
    for name, *cells in zip(*rows, strict=False):
        if all(map(_BARE.fullmatch, map(_plain, cells))):
            found.setdefault(_plain(name), set()).update(*map(_numbers, cells))
    return found


def recorded_tables(text: str) -> Iterator[list[list[str]]]:
    """Yield the tables of a recorded output: lines of as many cells as a head, two spaces or more apart."""
    table: list[list[str]] = []
    for line in [*text.splitlines(), ""]:
        cells = re.split(r"\s{2,}", line.strip())
        if len(table) == 1 and len(cells) == len(table[0]) + 1:
            table[0].insert(0, "")  # no head above the names of the rows
        if table and len(cells) == len(table[0]) and any(map(_NUMBER.search, cells[1:])):
            table.append(cells)
            continue
        if len(table) > 1:
            yield table
        table = [cells] if len(cells) > 1 else []


def merge(into: Values, more: Values) -> None:
    """Add the values of one table to those of another."""
    for name, numbers in more.items():
        into.setdefault(name, set()).update(numbers)


def recorded_values(root: Path, text: str) -> Values:
    """Return the values of the recorded outputs that a page shows."""
    found: Values = {}
    for fence in find_fences(text)[0]:
        if fence.include and fence.include.startswith(RECORDED):
            for table in recorded_tables((root / fence.include).read_text(encoding="utf-8")):
                merge(found, values_of(table))
    return found


def check_page(text: str, render: Callable[[str], str], everywhere: Values) -> Result:
    """Compare the figures of an English page's text.

    `render` returns the Markdown of a table by its name; `everywhere` are values that all sections mean.
    """
    lines, result = text.split("\n"), Result()
    for fence in find_fences(text)[0]:
        lines[fence.first - 1 : fence.last] = [""] * (fence.last - fence.first + 1)
    starts = [0, *(number for number, line in enumerate(lines) if line.startswith("#")), len(lines)]
    for start, end in pairwise(starts):
        section = "\n".join(lines[start:end])
        known = {name: set(numbers) for name, numbers in everywhere.items()}
        shown = TABLE_MARKER.sub(lambda match: "\n" + render(match[1]) + "\n", section)
        page = read_markdown(shown)
        for table in (table for part in page.sections for table in part.tables):
            merge(known, values_of([[page.show(cell) for cell in row] for row in table]))
        for number, line in enumerate(lines[start:end], start + 1):
            if not line.lstrip().startswith("|"):
                _check_paragraph(line, known, number, result)
    return result


def _check_paragraph(line: str, known: Values, number: int, result: Result) -> None:
    named: dict[str, set[Decimal]] = {}
    for match in _TOKEN.finditer(line):
        if match["code"]:
            name = _plain(match["code"])
            if known.get(name):
                named[name] = known[name]
        elif named and match["figure"] and (match["percent"] or "." in match["figure"]):
            result.compared += 1
            figure = Decimal(match["figure"].replace(",", ""))
            decimals = len(match["figure"].partition(".")[2])
            if all(round(value, decimals) != figure for value in set().union(*named.values())):
                heads = ", ".join(f"`{name}`" for name in named)
                result.defects.append(f"line {number}: {match[0]} is no value of {heads}")


def check(root: Path, render: Callable[[str], str]) -> Result:
    """Compare all English pages below `root`; `render` returns the Markdown of a table by its name."""
    total = Result()
    pages = {path: path.read_text(encoding="utf-8") for path in sorted((root / "docs/en").rglob("*.md"))}
    by_folder: dict[Path, Values] = {}
    for path, text in pages.items():
        merge(by_folder.setdefault(path.parent, {}), recorded_values(root, text))
    for path, text in pages.items():
        result = check_page(text, render, by_folder[path.parent])
        name = path.relative_to(root).as_posix()
        total.defects += [f"{name}: {defect}" for defect in result.defects]
        total.compared += result.compared
    return total
