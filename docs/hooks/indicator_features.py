"""The table of how long 111 indicators and ten context features take, from docs/data/results/."""

from results_table import load, table

YEAR = 525_600  # minute bars

TEXT = {
    "en": {
        "head": ["Minute bars", "Of a year", "On the clock, s", "CPU in the program, s"],
        "spread": "{median:.3g} ({low:.3g} to {high:.3g})",
        "measured": "{indicators} indicators and the context of one symbol; median of {rounds} rounds (10% "
        "to 90%). The CPU time, without what the system needs for memory, grows like the number of bars to "
        "the power of {exponent:.2f}. {machine}; "
        "Python {python}, NumPy {numpy}, pandas {pandas}, TA-Lib {ta-lib}; {date}. Made by `{command}`.",
    },
    "zh": {
        "head": ["分钟 K 线数", "占一年", "实际耗时，s", "程序自身的 CPU 时间，s"],
        "spread": "{median:.3g}（{low:.3g} 到 {high:.3g}）",
        "measured": "单个代码的 {indicators} 个指标和上下文特征；{rounds} 轮的中位数（10% 到 90%）。"
        "CPU 时间（不含系统分配内存的部分）随 K 线数的 {exponent:.2f} 次方增长。{machine}；"
        "Python {python}，NumPy {numpy}，pandas {pandas}，TA-Lib {ta-lib}；{date}。由 `{command}` 生成。",
    },
}


def render(language: str) -> str:
    """Return the table and a line about its origin, as Markdown in `language` ("en" or "zh")."""
    text, data = TEXT[language], load("indicator_features")
    rows = []
    for row in data["rows"]:
        times = [text["spread"].format(**row[clock]) for clock in ("clock", "cpu")]
        rows.append([f"{row['bars']:,}", f"{row['bars'] / YEAR:.1%}", *times])
    facts = data | data["versions"] | {"machine": data["machine"][language]}
    return f"{table(text['head'], rows)}\n{text['measured'].format(**facts)}\n"
