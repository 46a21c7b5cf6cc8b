"""The table of the indicator transformer at several batch sizes, from docs/data/results/."""

from benchmark_table import device_name, figures
from results_table import load, table

WAYS = ("fp32", "bf16", "bf16+compile", "bf16+compile+graphs")

TEXT = {
    "en": {
        "head": [
            "Device",
            "Batch size",
            "fp32, ms",
            "bf16, ms",
            "bf16, compiled, ms",
            "With CUDA graphs, ms",
            "Samples per s, fp32",
            "Samples per s, fastest",
        ],
        "cpu": "{cores} x86-64 CPU cores",
        "not_there": "–",
        "measured": "{name}: PyTorch {torch}, Python {python}; {date}, `{command}`. ",
        "rest": (
            "Medians of the milliseconds per step; 10% and 90% quantiles, memory and first steps are in "
            "`docs/data/results/indicator_batches.yaml`."
        ),
    },
    "zh": {
        "head": [
            "设备",
            "批大小",
            "fp32，ms",
            "bf16，ms",
            "bf16 加编译，ms",
            "再加 CUDA graphs，ms",
            "每秒样本数，fp32",
            "每秒样本数，最快",
        ],
        "cpu": "{cores} 个 x86-64 CPU 核",
        "not_there": "–",
        "measured": "{name}：PyTorch {torch}，Python {python}；{date}，`{command}`。",
        "rest": (
            "数值是每步毫秒数的中位数；10% 和 90% 分位数、内存、第一步的用时在 "
            "`docs/data/results/indicator_batches.yaml` 里。"
        ),
    },
}


def render(language: str) -> str:
    """Return the table and a line about its origin, as Markdown in `language` ("en" or "zh")."""
    text, rows, origins = TEXT[language], [], ""
    for entry in load("indicator_batches"):
        name = device_name(entry, text)
        for size in dict.fromkeys(row["batch_size"] for row in entry["rows"]):
            by_way = {row["way"]: row for row in entry["rows"] if row["batch_size"] == size}
            measured = {way: row for way, row in by_way.items() if "step_ms" in row}
            times = [
                figures(measured[way]["step_ms"]) if way in measured else text["not_there"] for way in WAYS
            ]
            speeds = [measured["fp32"]["samples_per_s"], max(r["samples_per_s"] for r in measured.values())]
            rows.append([name, str(size), *times, *map(figures, speeds)])
        facts = {**entry["versions"], "date": entry["date"], "command": entry["command"]}
        origins += text["measured"].format(name=name, **facts)
    return f"{table(text['head'], rows)}\n{origins}{text['rest']}\n"
