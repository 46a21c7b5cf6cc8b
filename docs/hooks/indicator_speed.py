"""Tables of the indicator transformer's speed, by size and by batch size, from docs/data/results/."""

import json
from typing import Any

from benchmark_table import device_name, figures
from results_table import DATA, MISSING, load, table

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
        "ways": {
            "fp32": "fp32, ms",
            "bf16": "bf16, ms",
            "bf16+compile": "bf16, compiled, ms",
            "bf16+compile+graphs": "With CUDA graphs, ms",
        },
        "speeds": ["Samples per s, fp32", "Samples per s, fastest"],
        "cpu": "{cores} x86-64 CPU cores",
        "batches": (
            "{device}, `--size origin`, milliseconds per step (medians); PyTorch {torch}, Python {python}; "
            "{date}. Made by `{command}`; quantiles, memory and first steps are in "
            "`docs/data/results/indicator_batches.yaml`."
        ),
        "failed": " A dash: this way failed; the reason is in the same file.",
        "sizes": ["Size", "Parameters", "Batch size"],
        "levels_of": {
            "cpu": "CPU, ms",
            "cuda": "GPU, ms",
            "cuda+bf16": "bf16, ms",
            "cuda+bf16+compile": "Compiled too, ms",
        },
        "best": "Best speed-up",
        "levels": (
            "{gpu} with {cores} x86-64 CPU cores, milliseconds per step (medians); PyTorch {torch}, "
            "Python {python}; {date}. Commands and every reading are in `docs/data/results/{files}`."
        ),
    },
    "zh": {
        "batch_size": "批大小",
        "ways": {
            "fp32": "fp32，ms",
            "bf16": "bf16，ms",
            "bf16+compile": "bf16 加编译，ms",
            "bf16+compile+graphs": "再加 CUDA graphs，ms",
        },
        "speeds": ["每秒样本数，fp32", "每秒样本数，最快"],
        "cpu": "{cores} 个 x86-64 CPU 核",
        "batches": (
            "{device}，`--size origin`，每步毫秒数（中位数）；PyTorch {torch}，Python {python}；{date}。"
            "由 `{command}` 生成；分位数、内存、第一步的用时见 `docs/data/results/indicator_batches.yaml`。"
        ),
        "failed": "横线表示这种方式运行失败，原因记录在同一个文件里。",
        "sizes": ["大小", "参数量", "批大小"],
        "levels_of": {
            "cpu": "CPU，ms",
            "cuda": "GPU，ms",
            "cuda+bf16": "bf16，ms",
            "cuda+bf16+compile": "再加编译，ms",
        },
        "best": "最大加速比",
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
    """Return the table of one device. A way that was not tried gets no column, where it failed a dash."""
    found = {(row["batch_size"], row["way"]): row for row in entry["rows"]}
    ways = [way for way in text["ways"] if any(way == asked for _, asked in found)]
    rows = []
    for size in dict.fromkeys(size for size, _ in found):
        measured = {way: found[size, way] for way in ways if "step_ms" in found.get((size, way), {})}
        speeds = {way: row["samples_per_s"] for way, row in measured.items()}
        times = [measured[way]["step_ms"] if way in measured else None for way in ways]
        values = [*times, speeds.get("fp32"), max(speeds.values(), default=None)]
        rows.append([str(size), *map(cell, values)])
    head = [text["batch_size"], *(text["ways"][way] for way in ways), *text["speeds"]]
    facts = {**entry["versions"], "date": entry["date"], "command": entry["command"]}
    origin = text["batches"].format(device=device_name(entry, text), **facts)
    if any(MISSING in row for row in rows):
        origin += text["failed"]
    return f"{table(head, rows)}\n{origin}\n"


def cell(value: float | None) -> str:
    """Return a number with three digits, or a dash for what was not measured."""
    return MISSING if value is None else figures(value)


def sizes(language: str) -> str:
    """Return what each level of the benchmark makes of each size of the network."""
    text, rows = TEXT[language], []
    for size, (parameters, batch_size) in SIZES.items():
        content = json.loads((DATA / FILE.format(size=size)).read_text(encoding="utf-8"))
        measured = {row["level"]: row for row in content["rows"] if row["status"] == "measured"}
        levels = [measured.get(level) for level in text["levels_of"]]
        times = [cell(level and 1e3 * level["median_s"]) for level in levels]
        # Without a time of the CPU, the speed-ups of the file compare with something else.
        best = figures(max(row["speed_up"] for row in measured.values()), 2) if "cpu" in measured else MISSING
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
    head = [*text["sizes"], *text["levels_of"].values(), text["best"]]
    return f"{table(head, rows)}\n{origin}\n"
