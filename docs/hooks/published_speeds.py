"""Render the speeds that others published (docs/data/published_speeds.yaml) as Markdown tables."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import yaml

DATA = Path(__file__).resolve().parent.parent / "data" / "published_speeds.yaml"
CLEARLY_FASTER = 0.97  # of two times, the lower is set bold when it is below this part of the other
WORDS = {
    "en": {"source": "Source: ", "commit": ", commit {commit} of {date}", "end": "."},
    "zh": {"source": "来源：", "commit": "，{date} 的提交 {commit}", "end": "。"},
}


@cache
def tables() -> dict[str, dict[str, Any]]:
    """Return the data of every table by name."""
    return yaml.safe_load(DATA.read_text(encoding="utf-8"))


def _cell(value: Any, language: str, decimals: int = 0) -> str:
    """Return a cell as Markdown: text, a number, a pair of times, or a dash for nothing."""
    if value is None:
        return "–"
    if isinstance(value, dict):
        return value[language]
    if isinstance(value, list):
        return " / ".join(
            f"**{time:.{decimals}f}**" if time < CLEARLY_FASTER * other else f"{time:.{decimals}f}"
            for time, other in zip(value, reversed(value), strict=True)
        )
    return f"{value}"


def names() -> set[str]:
    """Return the names of the tables."""
    return set(tables())


def render(name: str, language: str) -> str:
    """Return the table `name` ("speeds-bert", …) in "en" or "zh" with its note and sources.

    Raises KeyError for an unknown table or language.
    """
    table, words = tables()[name], WORDS[language]
    columns = [_cell(column, language) for column in table["columns"]]
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    for row in table["rows"]:
        cells = [_cell(value, language, table.get("decimals", 0)) for value in row]
        lines.append("| " + " | ".join(cells) + " |")
    note = [table["note"][language]]
    for source in table["sources"]:
        commit = words["commit"].format(commit=f"`{source['commit']}`", date=source["date"])
        note.append(f"{words['source']}[{source['name']}]({source['url']}){commit}{words['end']}")
    return "\n".join([*lines, "", (" " if language == "en" else "").join(note)])
