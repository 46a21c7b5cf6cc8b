"""The operators of PyTorch by release, from docs/data/operators.json (tools.measuring.releases).

Two tables and three lists, so that a name is found whatever its state is; docs/hooks/operator_finder.py has
the box that filters them. What is counted for each release is a table of docs/data/tables/operators.yaml.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from html import escape
from typing import Any

import mac_marks
from origins import DATA, load

from tools.ranges import TABLES_FROM
from tools.versions import number

GUIDE = "../../guides/missing-operators/"  # seen from the built page

LISTS = ("kernel", "composed", "elsewhere")
SIGNS = {"x": "✓", "c": "○", "-": "–", "o": "–", ".": ""}
TEXT = {
    "en": {
        "operator": "Operator",
        "family": "What to do, or what it belongs to",
        "cpu": "compute this call on the CPU",
        "show": "Show {} names",
    },
    "zh": {
        "operator": "算子",
        "family": "怎么办，或者属于哪一类",
        "cpu": "把这一次调用放到 CPU 上",
        "show": "展开 {} 个名字",
    },
}


@dataclass(frozen=True)
class Row:
    """Entries that belong together and have the same marks, such as `frexp` and its backward pass."""

    names: tuple[str, ...]  # the plainest first
    marks: str  # one per release, as in the data


@cache
def tables() -> dict[str, Any]:
    """Return the releases that the page shows, and every operator in a group.

    `changed` (got or lost its kernel) holds entries with a mark per release; `missing` entries (CUDA has a
    kernel, MPS has none, and nothing composes it); the others names without overloads.
    """
    return grouped(json.loads((DATA / "operators.json").read_text(encoding="utf-8")))


def grouped(data: dict[str, Any]) -> dict[str, Any]:
    """Return the content of operators.json as tables() describes it."""
    skipped = sum(number(release) < number(TABLES_FROM) for release in data["releases"])
    marks = {name: series[skipped:] for series, names in data["marks"].items() for name in names.split()}
    changed = {name: found for name, found in marks.items() if "x" in found and set(found) != {"x"}}
    rest = {name: found[-1] for name, found in marks.items() if name not in changed}
    missing = sorted(name for name, mark in rest.items() if mark == "-")
    signs = dict(zip("xco", LISTS, strict=True))
    return {
        "releases": dict(list(data["releases"].items())[skipped:]),
        "changed": dict(sorted(changed.items())),
        "missing": missing,
        **{
            group: sorted({name.partition(".")[0] for name, mark in rest.items() if mark == sign})
            for sign, group in signs.items()
        },
    }


@cache
def families() -> list[dict[str, str]]:
    """Return the families in order."""
    return load("operator_families", DATA)


def stem(name: str) -> str:
    """Return what the variants of an operator share: the name without overload, direction and in-place mark.

    "logit_", "_pdist_backward" and "heaviside.out" give "logit", "pdist" and "heaviside".
    """
    plain = name.partition(".")[0].strip("_")
    return re.sub(r"_(forward|backward)$", "", plain)


def group(entries: dict[str, str]) -> list[Row]:
    """Return the rows of a table: entries of one stem with equal marks together, sorted by name."""
    together: dict[tuple[str, str], list[str]] = {}
    for name, marks in entries.items():
        together.setdefault((stem(name), marks), []).append(name)
    rows = [Row(tuple(sorted(names, key=plainness)), marks) for (_, marks), names in together.items()]
    return sorted(rows, key=lambda row: (row.names[0].strip("_"), row.names))


def plainness(name: str) -> tuple[bool, bool, bool, int, str]:
    """Order variants: those without overload, that are not backward or in place, first."""
    base, dot, _ = name.partition(".")
    return bool(dot), "backward" in base, base.endswith("_"), len(name), name


def family(name: str) -> tuple[int, dict[str, str] | None]:
    """Return what a missing operator belongs to, and its place among the families.

    Those with a replacement come first, then those that belong nowhere: a reader is likelier to meet them.
    """
    base = name.partition(".")[0]
    for place, entry in enumerate(families()):
        if re.fullmatch(entry["names"], base):
            return (0 if "link" in entry else 2 + place), entry
    return 1, None


def _names(row: Row, marks: Mapping[str, str]) -> str:
    first, *others = row.names
    shown = [name.removeprefix(first) if name.startswith(first + ".") else name for name in others]
    more = " ".join(f"<code>{escape(name)}</code>" for name in shown)
    seen = "".join(marks.get(name, "") for name in row.names)
    return f"<code>{escape(first)}</code>" + (f" <small>{more}</small>" if more else "") + seen


def _changed(language: str) -> str:
    heads, marks = [TEXT[language]["operator"], *tables()["releases"]], mac_marks.operators(language)
    rows = [[_names(row, marks), *(SIGNS[mark] for mark in row.marks)] for row in group(tables()["changed"])]
    counted = mac_marks.operators_counted(language)
    return (f"{counted}\n\n" if counted else "") + _table(heads, rows, "operator-marks")


def _missing(language: str) -> str:
    rows = group(dict.fromkeys(tables()["missing"], "-"))
    rows.sort(key=lambda row: family(row.names[0])[0])  # within a family they stay in order
    heads, marks = [TEXT[language]["operator"], TEXT[language]["family"]], mac_marks.operators(language)
    return _table(heads, [[_names(row, marks), _family(row, language)] for row in rows])


def _family(row: Row, language: str) -> str:
    entry = family(row.names[0])[1]
    if entry is None:
        return TEXT[language]["cpu"]
    text = re.sub(r"`([^`]+)`", r"<code>\1</code>", entry[language])
    return f'<a href="{GUIDE}#{entry["link"]}">{text}</a>' if "link" in entry else text


def _table(heads: list[str], rows: list[list[str]], style: str = "") -> str:
    head = "".join(f"<th>{cell}</th>" for cell in heads)
    body = "\n".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    classes = f"operator-table {style}".strip()
    return (
        f'<div class="{classes}" data-operators>\n<table>\n<thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{body}\n</tbody>\n</table>\n</div>"
    )


def _list(name: str, language: str) -> str:
    names, marks = tables()[name], mac_marks.operators(language)
    marks = {name: mark for name, mark in marks.items() if name not in tables()["changed"]}
    items = "".join(f"<li>{escape(name)}{marks.get(name, '')}</li>" for name in names)
    return (
        '<details class="operator-list" data-operators data-search-exclude>'
        f"<summary>{TEXT[language]['show'].format(len(names))}</summary>\n<ul>{items}</ul></details>"
    )


def operator_releases() -> list[dict[str, Any]]:
    """Return what was counted in each release that the page shows."""
    return list(tables()["releases"].values())


TABLES: dict[str, Callable[[str], str]] = {
    "operators-changed": _changed,
    "operators-missing": _missing,
} | {f"operators-{name}": partial(_list, name) for name in LISTS}
