"""The table of how many shell blocks the tests run, counted from the marks of their files."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from markdown_tables import Column, table_of

from tools.checks.sections import parse_sections
from tools.checks.shell_snippets import FOLDER, run_mark

ROOT = Path(__file__).resolve().parents[2]
KINDS = {  # of run_mark, in the order of the table
    "run": {"en": "run by the tests", "zh": "由测试运行"},
    "macOS only": {"en": "not run: they need macOS or its GPU", "zh": "没有运行：需要 macOS 或 Mac 的 GPU"},
    "network": {"en": "not run: they download something", "zh": "没有运行：需要下载"},
    "interactive": {"en": "not run: somebody has to type or watch", "zh": "没有运行：需要有人输入或查看"},
}
COLUMNS = (
    Column("Shell blocks", "Shell 代码块", "kind"),
    Column("Blocks", "代码块数", "blocks"),
    Column("Files", "文件数", "files"),
)


def rows(files: Iterable[Path]) -> list[dict[str, Any]]:
    """Return a row for each kind, also for one that no file has."""
    marked = [(run_mark(path).kind, len(parse_sections(path, path.parent)[0])) for path in files]
    return [
        {
            "kind": words,
            "blocks": sum(blocks for found, blocks in marked if found == kind),
            "files": sum(found == kind for found, _ in marked),
        }
        for kind, words in KINDS.items()
    ]


def render(language: str) -> str:
    """Return the table as Markdown in `language` ("en" or "zh")."""
    return table_of(COLUMNS, rows((ROOT / FOLDER).glob("*.sh")), language)


TABLES: dict[str, Callable[[str], str]] = {"shell-sections": render}
