"""The table of wrong results that MPS is known for, from docs/data/wrong_results.yaml."""

from collections.abc import Callable, Sequence
from typing import Any

from markdown_tables import Column, table_of
from origins import DATA, load

TRACKER = "https://github.com/"
REPOSITORY = "pytorch/pytorch"  # of the sources that name none
COLUMNS = (
    Column("What is computed wrongly", "什么算错了", "what"),
    Column("PyTorch", "PyTorch 版本", "versions"),
    Column("State", "状态", "state"),
    Column("Source", "来源", "sources"),
)
STATES = {
    "open": {"en": "**open**", "zh": "**未解决**"},
    "fixed": {"en": "fixed in {release}", "zh": "{release} 已修复"},
    "closed": {"en": "closed", "zh": "已关闭"},
}
THREAD = {"en": "read up to {}", "zh": "读到 {} 为止"}
JOINTS = {"en": ("; ", ", "), "zh": ("；", "、")}  # before a note or a date, between sources


def cases() -> list[dict[str, Any]]:
    """Return the cases in order."""
    return load("wrong_results", DATA)["cases"]


def in_words(case: dict[str, Any], language: str) -> dict[str, Any]:
    """Return a case with its state and its sources as the table shows them."""
    state, (before, between) = case["state"], JOINTS[language]
    words = STATES[state["is"]][language].format(release=state.get("in"))
    words += before + state["note"][language] if "note" in state else ""
    words += before + THREAD[language].format(case["newest"]) if "newest" in case else ""
    return case | {"state": words, "sources": between.join(map(link, case["sources"]))}


def link(source: Sequence[Any]) -> str:
    """Return a link to a thread: its kind, its number and, elsewhere than at PyTorch, its repository."""
    kind, number, *elsewhere = source
    repository = elsewhere[0] if elsewhere else REPOSITORY
    name = f"{elsewhere[0]}#{number}" if elsewhere else f"#{number}"
    return f"[{name}]({TRACKER}{repository}/{'pull' if kind == 'pull' else 'issues'}/{number})"


def render(language: str) -> str:
    """Return the table as Markdown in `language` ("en" or "zh")."""
    return table_of(COLUMNS, [in_words(case, language) for case in cases()], language, right=False)


TABLES: dict[str, Callable[[str], str]] = {"wrong-results": render}
