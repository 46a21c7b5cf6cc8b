"""Every table that pages show, as text in both languages, from data in which other numbers stand.

    python -m tests.site.rendered_tables    write rendered_tables.md again; then read what changed

The data have the structure and the words of docs/data, so renderers find what they look for, but few entries
of catalogues, and other numbers: each follows from its name, so columns that are equal on a page differ here,
and the text stays as it is when a result is measured again.
"""

import json
import re
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
HOOKS = ROOT / "docs" / "hooks"
STORED = Path(__file__).with_suffix(".md")
# Who adds a shell block or a claim would have to write the text again.
COUNTED_IN_THE_TREE = {"shell-sections", "claims", "claims-counts"}
CUT = {
    f"variables-{group}" for group in ("compile", "cpu", "fallback", "kernels", "lightning", "profiling")
}  # their first entries are in another group
ALIKE = re.compile(r"error-messages-(?!memory$)")  # one of them shows how they look
OF_NUMBERS = {"time_and_cost", "published_speeds"}  # data that are no catalogues, beside all in results/
MOST = 3  # entries of a list in a catalogue
LINES = 40  # of a table; all but the longest catalogues are shorter
LOOKED_FOR = {"decimals", "steps"}  # renderers compare these numbers or print so many digits


def other(value: Any, name: str = "") -> Any:
    """Return nested data with other numbers. Equal ones of one name stay equal: they belong together."""
    if isinstance(value, dict):
        return {key: other(entry, key if isinstance(key, str) else name) for key, entry in value.items()}
    if isinstance(value, list):
        return [other(entry, name) for entry in value]
    if isinstance(value, bool) or not isinstance(value, int | float) or name in LOOKED_FOR:
        return value
    drawn = zlib.crc32(name.encode())
    if isinstance(value, int):
        return value + drawn % 9 + 1 + value * (drawn % 97) // 100
    return (value or 1e-3) * (1.05 + drawn % 997 / 1100)


def few(value: Any) -> Any:
    """Return a catalogue with the first entries of its lists; operators in one to four of each series."""
    if isinstance(value, list):
        return [few(entry) for entry in value[:MOST]]
    if not isinstance(value, dict):
        return value
    if "marks" in value:
        series = enumerate(value["marks"].items())
        return value | {"marks": {name: " ".join(text.split()[: 1 + at % 4]) for at, (name, text) in series}}
    return {name: few(entry) for name, entry in value.items()}


@contextmanager
def hooks_with_other_numbers() -> Iterator[Any]:
    """Yield a second copy of the module data_tables: some hooks read their data when they are loaded."""
    import data_tables  # what the hooks import themselves is then loaded only once

    from tools.read_yaml import read_yaml

    def read(path: Path) -> Any:
        data = read_yaml(path)
        if path.parent.name == "tables":
            return data
        return other(data if path.parent.name == "results" or path.stem in OF_NUMBERS else few(data))

    def read_json(text: str) -> Any:
        data = json.JSONDecoder().decode(text)
        return few(data) if "marks" in data else other(data)

    hooks = {"tools.figures", *(path.stem for path in HOOKS.glob("*.py"))}
    others = {name: module for name, module in sys.modules.items() if name not in hooks}
    with (
        mock.patch.dict(sys.modules, others, clear=True),
        mock.patch("tools.read_yaml.read_yaml", read),
        mock.patch("json.loads", read_json),
    ):
        import data_tables
        import mac_reports

        mac_reports.FOLDER = HOOKS / "none"  # or each report would change the text
        yield data_tables


def rendered() -> str:
    """Return every table in both languages, each below its name."""
    with hooks_with_other_numbers() as tables:
        parts = [
            "\n".join([f"## {name} ({language})\n", *tables.render(name, language).splitlines()[:LINES], ""])
            for name in sorted(tables.renderers().keys() - COUNTED_IN_THE_TREE - CUT)
            if not ALIKE.match(name)
            for language in ("en", "zh")
        ]
    return "\n".join(parts)


if __name__ == "__main__":
    sys.path.insert(0, str(HOOKS))
    STORED.write_text(rendered(), encoding="utf-8")
