"""Tables of the speeds that others published, from docs/data/published_speeds.yaml."""

from collections.abc import Callable
from functools import partial
from typing import Any

from markdown_tables import Column, table_of
from origins import DATA, load, sentences

CLEARLY_FASTER = 0.97  # of two times, the lower is set bold when it is below this part of the other
SOURCE = {
    "en": "Source: [{name}]({url}), commit `{commit}` of {date}.",
    "zh": "来源：[{name}]({url})，{date} 的提交 `{commit}`。",
}
SPEEDS: dict[str, dict[str, Any]] = load("published_speeds", DATA)


def cell(value: Any, decimals: int) -> Any:
    """Return a pair of times as Markdown, and everything else as it is."""
    if not isinstance(value, list):
        return value
    return " / ".join(
        f"**{time:.{decimals}f}**" if time < CLEARLY_FASTER * other else f"{time:.{decimals}f}"
        for time, other in zip(value, reversed(value), strict=True)
    )


def speeds(found: dict[str, Any], language: str) -> str:
    """Return a table with its note and sources."""
    write = partial(cell, decimals=found.get("decimals", 0))
    columns = [
        Column(*((head["en"], head["zh"]) if isinstance(head, dict) else (head, head)), place, write)
        for place, head in enumerate(found["columns"])
    ]
    below = [SOURCE[language].format(**source) for source in found["sources"]]
    shown = table_of(columns, map(dict, map(enumerate, found["rows"])), language, right=False)
    return f"{shown}\n{sentences(language, found['note'][language], *below)}"


TABLES: dict[str, Callable[[str], str]] = {name: partial(speeds, found) for name, found in SPEEDS.items()}
