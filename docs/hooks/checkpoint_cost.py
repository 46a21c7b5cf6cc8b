"""The table of how long saving, checking and loading a checkpoint takes, from docs/data/results/."""

from collections.abc import Callable

from markdown_tables import Column, table_of, written
from origins import load, origin, sentences

STEPS = {
    "save": {"en": "Save, with the check of the file before it", "zh": "保存，包括检查前一个文件"},
    "check": {"en": "Check every CRC-32", "zh": "核对全部 CRC-32"},
    "load": {"en": "Load, with the check", "zh": "加载，包括检查"},
}
MS = written(".3g", 1e3)
COLUMNS = (
    Column("Step", "步骤", "step", STEPS.__getitem__),
    Column("Median", "中位数", "seconds", MS, "{median} ms"),
    Column(
        "10% to 90% of the readings",
        "10% 到 90% 的读数",
        "seconds",
        MS,
        {"en": "{low} to {high} ms", "zh": "{low} 到 {high} ms"},
    ),
)
WHAT = {
    "en": "Full-size ResNet-18 with SGD, {size:.1f} MB.",
    "zh": "完整大小的 ResNet-18 加 SGD，{size:.1f} MB。",
}


def render(language: str) -> str:
    """Return a table for each machine, with its origin below, in `language` ("en" or "zh")."""
    parts = []
    for entry in load("checkpoint_cost"):
        rows = [{"step": step, "seconds": entry[step]} for step in STEPS]
        what = WHAT[language].format(size=entry["bytes"] / 1e6)
        parts += [table_of(COLUMNS, rows, language), sentences(language, what, origin(entry, language))]
    return "\n".join(parts)


TABLES: dict[str, Callable[[str], str]] = {"checkpoint-cost": render}
