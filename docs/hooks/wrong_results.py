"""The table of wrong results that MPS is known for, from docs/data/wrong_results.yaml."""

from pathlib import Path
from typing import Any

import yaml

DATA = Path(__file__).resolve().parent.parent / "data" / "wrong_results.yaml"
TRACKER = "https://github.com/pytorch/pytorch"

HEADS = {
    "en": ("What is computed wrongly", "PyTorch", "State", "Source"),
    "zh": ("什么算错了", "PyTorch 版本", "状态", "来源"),
}
STATES = {
    "open": {"en": "**open**", "zh": "**未解决**"},
    "fixed": {"en": "fixed in {release}", "zh": "{release} 已修复"},
    "closed": {"en": "closed", "zh": "已关闭"},
    "unknown": {"en": "not checked", "zh": "未核对"},
}
JOINTS = {"en": ("; ", ", "), "zh": ("；", "、")}  # before a note, between sources


def load() -> list[dict[str, Any]]:
    """Return the cases in order."""
    return yaml.safe_load(DATA.read_text(encoding="utf-8"))["cases"]


def _state(state: dict[str, Any], language: str) -> str:
    words = STATES[state["is"]][language].format(release=state.get("in"))
    return words + (JOINTS[language][0] + state["note"][language] if "note" in state else "")


def _source(kind: str, number: int) -> str:
    return f"[#{number}]({TRACKER}/{'pull' if kind == 'pull' else 'issues'}/{number})"


def render(language: str) -> str:
    """Return the table as Markdown in `language` ("en" or "zh")."""
    head = HEADS[language]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for case in load():
        sources = JOINTS[language][1].join(_source(kind, number) for kind, number in case["sources"])
        cells = [case["what"][language], case["versions"][language], _state(case["state"], language), sources]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)
