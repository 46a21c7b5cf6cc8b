"""Tables of the indicator transformer's speed, by size and by batch size, from docs/data/results/."""

import json
from typing import Any

from benchmark_table import device_name, figures
from results_table import DATA, load, table

WAYS = ("fp32", "bf16", "bf16+compile", "bf16+compile+graphs")
LEVELS = ("cpu", "cuda", "cuda+bf16", "cuda+bf16+compile")
SIZES = {  # name: parameters, batch size
    "small": (36_130, 64),
    "origin": (4_894_082, 16),
    "medium": (38_269_314, 16),
    "large": (152_558_978, 16),
}
FILE = "benchmark_indicator_{size}_h200.json"

TEXT: dict[str, dict[str, Any]] = {
    "en": {
        "batch_size": "Batch size",
        "ways": ["fp32, ms", "bf16, ms", "bf16, compiled, ms", "With CUDA graphs, ms"],
        "speeds": ["Samples per s, fp32", "Samples per s, fastest"],
        "cpu": "{cores} x86-64 CPU cores",
        "batches": (
            "{device}, `--size origin`, milliseconds per step (medians); PyTorch {torch}, Python {python}; "
            "{date}. Made by `{command}`; quantiles, memory and first steps are in "
            "`docs/data/results/indicator_batches.yaml`."
        ),
        "sizes": [
            "Size",
            "Parameters",
            "Batch size",
            "CPU, ms",
            "GPU, ms",
            "bf16, ms",
            "Compiled too, ms",
            "Best speed-up",
        ],
        "levels": (
            "{gpu} with {cores} x86-64 CPU cores, milliseconds per step (medians); PyTorch {torch}, "
            "Python {python}; {date}. Commands and every reading are in `docs/data/results/{files}`."
        ),
    },
    "zh": {
        "batch_size": "批大小",
        "ways": ["fp32，ms", "bf16，ms", "bf16 加编译，ms", "再加 CUDA graphs，ms"],
        "speeds": ["每秒样本数，fp32", "每秒样本数，最快"],
        "cpu": "{cores} 个 x86-64 CPU 核",
        "batches": (
            "{device}，`--size origin`，每步毫秒数（中位数）；PyTorch {torch}，Python {python}；{date}。"
            "由 `{command}` 生成；分位数、内存、第一步的用时见 `docs/data/results/indicator_batches.yaml`。"
        ),
        "sizes": [
            "大小",
            "参数量",
            "批大小",
            "CPU，ms",
            "GPU，ms",
            "bf16，ms",
            "再加编译，ms",
            "最大加速比",
        ],
        "levels": (
            "{gpu}，{cores} 个 x86-64 CPU 核，每步毫秒数（中位数）；PyTorch {torch}，Python {python}；"
            "{date}。命令和每次读数都在 `docs/data/results/{files}` 里。"
        ),
    },
}


def batches(language: str) -> str:
    """Return a table for each device, a row for each batch size, with its origin below it."""
    return "\n".join(batches_on(entry, TEXT[language]) for entry in load("indicator_batches"))


def batches_on(entry: dict[str, Any], text: dict[str, Any]) -> str:
    """Return the table of one device. A way that it does not have gets no column."""
    by_size: dict[int, dict[str, dict[str, Any]]] = {}
    for row in entry["rows"]:
        by_size.setdefault(row["batch_size"], {})[row["way"]] = row
    ways = [way for way in WAYS if all(way in measured for measured in by_size.values())]
    rows = []
    for size, measured in by_size.items():
        speeds = [measured["fp32"]["samples_per_s"], max(row["samples_per_s"] for row in measured.values())]
        times = [measured[way]["step_ms"] for way in ways]
        rows.append([str(size), *(figures(value) for value in (*times, *speeds))])
    head = [text["batch_size"], *text["ways"][: len(ways)], *text["speeds"]]
    facts = {**entry["versions"], "date": entry["date"], "command": entry["command"]}
    origin = text["batches"].format(device=device_name(entry, text), **facts)
    return f"{table(head, rows)}\n{origin}\n"


def sizes(language: str) -> str:
    """Return what each level of the benchmark makes of each size of the network."""
    text, rows = TEXT[language], []
    for size, (parameters, batch_size) in SIZES.items():
        content = json.loads((DATA / FILE.format(size=size)).read_text(encoding="utf-8"))
        by_level = {row["level"]: row for row in content["rows"]}
        times = [figures(1e3 * by_level[level]["median_s"]) for level in LEVELS]
        best = figures(max(row["speed_up"] for row in content["rows"]), 2)
        rows.append([f"`{size}`", f"{parameters:,}", str(batch_size), *times, best])
    facts, source = content["machine"], content["provenance"]
    origin = text["levels"].format(
        gpu=facts["gpu"],
        cores=facts["cpu_cores"],
        torch=source["torch"],
        python=source["python"],
        date=source["started_at"][:10],
        files=FILE.format(size="*"),
    )
    return f"{table(text['sizes'], rows)}\n{origin}\n"
