"""Render docs/data/environment_variables.yaml: one table per group of variables."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import yaml
from markdown_tables import table

DATA = Path(__file__).resolve().parent.parent / "data" / "environment_variables.yaml"
HEAD = {
    "en": ["Variable", "Default", "What it does", "When it is read", "Since"],
    "zh": ["变量", "默认值", "作用", "何时读取", "最早版本"],
}


@cache
def variables() -> list[dict[str, Any]]:
    """Return the entries, in the order of the file."""
    return yaml.safe_load(DATA.read_text(encoding="utf-8"))


def names() -> set[str]:
    """Return the names of the tables."""
    return {f"variables-{entry['group']}" for entry in variables()}


def render(name: str, language: str) -> str:
    """Return the table `name` ("variables-memory") in "en" or "zh". Raises KeyError for an unknown group."""
    group = name.removeprefix("variables-")
    rows = [entry for entry in variables() if entry["group"] == group]
    if not rows:
        raise KeyError(name)
    cells = []
    for entry in rows:
        default, effect, read = (_text(entry[key], language) for key in ("default", "effect", "read"))
        since = f"PyTorch {entry['since']}" if entry["since"] else "–"
        cells.append([f"`{entry['name']}`", default, effect, read, since])
    return table(HEAD[language], cells, right=False)


def _text(value: str | dict[str, str] | None, language: str) -> str:
    if value is None:
        return "–"
    return value[language] if isinstance(value, dict) else value
