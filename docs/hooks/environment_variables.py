"""The tables of environment variables, one per group, from docs/data/environment_variables.yaml."""

from collections.abc import Callable
from functools import partial

from markdown_tables import Column, table_of
from origins import DATA, load

from tools import ranges

COLUMNS = (
    Column("Variable", "变量", "name", form="`{}`"),
    Column("Default", "默认值", "default"),
    Column("What it does", "作用", "effect"),
    Column("When it is read", "何时读取", "read"),
    Column("Since", "最早版本", "since"),
)
VARIABLES = load("environment_variables", DATA)


def variables(group: str, language: str) -> str:
    """Return the table of a group."""
    rows = [
        entry | {"since": ranges.since(entry, language)} for entry in VARIABLES if entry["group"] == group
    ]
    return table_of(COLUMNS, rows, language, right=False)


TABLES: dict[str, Callable[[str], str]] = {
    f"variables-{group}": partial(variables, group) for group in {entry["group"] for entry in VARIABLES}
}
