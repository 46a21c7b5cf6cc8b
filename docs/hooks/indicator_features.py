"""The table of how long 111 indicators and ten context features take, from docs/data/results/."""

from collections.abc import Callable

from markdown_tables import SPREAD, Column, table_of, written
from origins import load, origin, sentences

YEAR = 525_600  # minute bars

COLUMNS = (
    Column("Minute bars", "分钟 K 线数", "bars", written(",")),
    Column("Of a year", "占一年", "bars", written(".1%", 1 / YEAR)),
    Column("On the clock, s", "实际耗时，s", "clock", written(".3g"), SPREAD),
    Column("CPU in the program, s", "程序自身的 CPU 时间，s", "cpu", written(".3g"), SPREAD),
)
WHAT = {
    "en": (
        "{indicators} indicators and the context of one symbol; median of {rounds} rounds (10% to 90%). "
        "The CPU time, without what the system needs for memory, grows like the number of bars to the power "
        "of {exponent:.2f}."
    ),
    "zh": (
        "单个代码的 {indicators} 个指标和上下文特征；{rounds} 轮的中位数（10% 到 90%）。"
        "CPU 时间（不含系统分配内存的部分）随 K 线数的 {exponent:.2f} 次方增长。"
    ),
}


def render(language: str) -> str:
    """Return the table and a line about its origin, as Markdown in `language` ("en" or "zh")."""
    data = load("indicator_features")
    below = sentences(language, WHAT[language].format(**data), origin(data, language))
    return f"{table_of(COLUMNS, data['rows'], language)}\n{below}\n"


TABLES: dict[str, Callable[[str], str]] = {"indicator-features": render}
