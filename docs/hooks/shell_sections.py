"""How many shell blocks the tests run, counted from the marks of their files."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tools.checks.sections import parse_sections
from tools.checks.shell_snippets import FOLDER, run_mark

ROOT = Path(__file__).resolve().parents[2]
KINDS = ("run", "macOS only", "network", "interactive")  # of run_mark, in the order of the table


def rows(files: Iterable[Path]) -> list[dict[str, Any]]:
    """Return a row for each kind, also for one that no file has."""
    marked = [(run_mark(path).kind, len(parse_sections(path, path.parent)[0])) for path in files]
    return [
        {
            "kind": kind,
            "blocks": sum(blocks for found, blocks in marked if found == kind),
            "files": sum(found == kind for found, _ in marked),
        }
        for kind in KINDS
    ]


def shell_blocks() -> list[dict[str, Any]]:
    """Return the rows of all files that pages show."""
    return rows((ROOT / FOLDER).glob("*.sh"))
