"""Tables of what examples/benchmark.py and tools/measure_training_loop.py measured."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from results_table import MISSING, load, table

DATA = Path(__file__).resolve().parent.parent / "data" / "results"

WITH_CONVOLUTIONS = ("cifar_optimizers",)  # the systems that TF32 in convolutions says something about
BENCHMARKS = {  # table: its file
    "benchmark-cifar-digits": "benchmark_cifar_digits_h200.json",
    "benchmark-cifar-large": "benchmark_cifar_large_h200.json",
    "benchmark-indicator-origin": "benchmark_indicator_origin_h200.json",
}

TEXT: dict[str, dict[str, Any]] = {
    "en": {
        "levels": (
            "Level | ms per step | 10% to 90% | Samples per s | Speed-up | Start, s | Memory, MB | Loss"
        ),
        "times": "{low} to {high}",
        "missing": "not available",
        "where": (
            "{gpu}{cores} x86-64 CPU cores, {threads} threads; PyTorch {torch}, Python {python}; {date}. "
            "Medians of {readings} readings after {warm_up} steps that do not count.{tf32} Made by "
            "`{command}`; every reading is in `docs/data/results/{file}`."
        ),
        "with": "{gpu} with ",
        "tf32": " Float32 convolutions on the GPU computed in TF32, as PyTorch lets them by default.",
        "overhead": (
            "Device | Training | Compared with | Simple loop, s per epoch | The handbook's loop, s | Ratio | "
            "10% to 90%"
        ),
        "bare": "bare loop, counts no accuracy",
        "steps": "the same steps",
        "waiting": "Before the clock is read | ms | 10% to 90% | TFLOPS that would follow",
        "yes": "waits for the GPU",
        "no": "does not wait",
        "product": (
            "{gpu}, product of two {size} × {size} matrices in float32; PyTorch {torch}, Python {python}; "
            "{date}. Made by `{command}`."
        ),
        "saving": (
            "Device | Training | Steps | Checkpoints | Size, MB | Whole run, s | Share spent saving | "
            "Without the last one"
        ),
        "digits": "16×16 digits, width 8, batch size 64",
        "synthetic": "generated 32×32 images, width {width}, batch size {batch}",
        "small": "indicators, 36,130 parameters, batch size 64",
        "origin": "indicators, 4,894,082 parameters, batch size 16",
        "loop": "{name}: PyTorch {torch}, {threads} CPU threads; {date}, `{command}`",
        "cpu": "{cores} x86-64 CPU cores",
        "between": ". ",
        "end": ".",
    },
    "zh": {
        "levels": "配置 | 每步毫秒数 | 10% 到 90% | 每秒样本数 | 加速比 | 启动，s | 内存，MB | 损失",
        "times": "{low} 到 {high}",
        "missing": "不可用",
        "where": (
            "{gpu}{cores} 个 x86-64 CPU 核，{threads} 个线程；PyTorch {torch}，Python {python}；{date}。"
            "先跑 {warm_up} 步不计时，再读 {readings} 次时钟，取中位数。{tf32}由 `{command}` 生成，"
            "每次读数都在 `docs/data/results/{file}` 里。"
        ),
        "with": "{gpu}，",
        "tf32": "GPU 上的 float32 卷积按 PyTorch 的默认设置用 TF32 计算。",
        "overhead": "设备 | 训练任务 | 对照 | 简单循环，每轮 s | 本手册的循环，s | 比值 | 10% 到 90%",
        "bare": "裸循环，不统计准确率",
        "steps": "同样的训练步",
        "waiting": "读时钟之前 | 毫秒 | 10% 到 90% | 由此算出的 TFLOPS",
        "yes": "等 GPU 算完",
        "no": "不等",
        "product": (
            "{gpu}，{size} × {size} 的 float32 矩阵乘法；PyTorch {torch}，Python {python}；{date}。"
            "由 `{command}` 生成。"
        ),
        "saving": (
            "设备 | 训练任务 | 步数 | 检查点个数 | 大小，MB | 整个训练，s | 保存所占比例 | 不算最后一次"
        ),
        "digits": "16×16 数字图片，宽度 8，批大小 64",
        "synthetic": "生成的 32×32 图片，宽度 {width}，批大小 {batch}",
        "small": "技术指标，36,130 个参数，批大小 64",
        "origin": "技术指标，4,894,082 个参数，批大小 16",
        "loop": "{name}：PyTorch {torch}，{threads} 个 CPU 线程；{date}，`{command}`",
        "cpu": "{cores} 个 x86-64 CPU 核",
        "between": "。",
        "end": "。",
    },
}


def figures(value: float, digits: int = 3) -> str:
    """Return a number with so many significant digits, without an exponent: "0.0123", "45.6", "1,234"."""
    if value >= 10 ** (digits - 1):
        return f"{value:,.0f}"
    shift = 0
    while value and value * 10**shift < 10 ** (digits - 1):
        shift += 1
    return f"{value:.{shift}f}"


def levels(file: str, language: str) -> str:
    """Return the levels of a benchmark, with where they come from below the table."""
    text, content = TEXT[language], json.loads((DATA / file).read_text(encoding="utf-8"))
    rows = []
    for row in content["rows"]:
        if row["status"] != "measured":
            rows.append([f"`{row['level']}`", text["missing"], *[""] * 6])
            continue
        low, high = (figures(1e3 * row[name]) for name in ("low_s", "high_s"))
        rows.append(
            [
                f"`{row['level']}`",
                figures(1e3 * row["median_s"]),
                text["times"].format(low=low, high=high),
                f"{row['samples_per_s']:,.0f}",
                f"{row['speed_up']:.2f}",
                figures(row["start_s"]),
                f"{row['memory_mb']:,.0f}",
                MISSING
                if row["last_loss"] is None
                else f"{row['last_loss']:.3f}",  # None: it was not a number
            ]
        )
    return table(text["levels"].split(" | "), rows) + f"\n{provenance_line(content, file, text)}\n"


def provenance_line(content: dict[str, Any], file: str, text: dict[str, Any]) -> str:
    """Return machine, versions, date and command of a benchmark in one sentence."""
    facts, source = content["machine"], content["provenance"]
    return text["where"].format(
        gpu=text["with"].format(gpu=facts["gpu"]) if facts["gpu"] else "",
        cores=facts["cpu_cores"],
        threads=source["cpu_threads"],
        torch=source["torch"],
        python=source["python"],
        date=source["started_at"][:10],
        **content["plan"],
        tf32=text["tf32"] if facts["tf32_convolutions"] and content["system"] in WITH_CONVOLUTIONS else "",
        command=source["command"],
        file=file,
    )


def training_name(part: dict[str, Any], text: dict[str, Any]) -> str:
    """Return what was trained, in words."""
    words = part["words"]
    given = dict(zip(words[::2], words[1::2], strict=True))
    width, batch = given.get("--width", 8), given.get("--batch-size", 64)
    return text[part["data"]].format(width=width, batch=batch)


def device_name(entry: dict[str, Any], text: dict[str, Any]) -> str:
    """Return what computed, in words."""
    facts = entry["machine"]
    return text["cpu"].format(cores=facts["cpu_cores"]) if entry["device"] == "cpu" else facts["gpu"]


def loop_table(language: str, part: str, cells: Callable[[dict[str, Any]], list[str]]) -> str:
    """Return a table about the training loop, a row for each device and training, and their provenance."""
    text, entries = TEXT[language], load("training_loop")
    rows, where = [], []
    for entry in entries:
        name = device_name(entry, text)
        rows += [[name, training_name(found, text), *cells(found)] for found in entry[part]]
        facts = {**entry["versions"], "threads": entry["cpu_threads"], "date": entry["date"]}
        where.append(text["loop"].format(name=name, command=entry["command"], **facts))
    return table(text[part].split(" | "), rows) + f"\n{text['between'].join(where)}{text['end']}\n"


def overhead(language: str) -> str:
    """Return how much longer an epoch takes in the training loop than in a bare one."""

    def cells(found: dict[str, Any]) -> list[str]:
        ratio, text = found["ratio"], TEXT[language]
        limits = text["times"].format(low=f"{ratio['low']:.3f}", high=f"{ratio['high']:.3f}")
        seconds = [figures(found[name]["median"]) for name in ("simple", "real")]
        return [text[found["against"]], *seconds, f"{ratio['median']:.3f}", limits]

    return loop_table(language, "overhead", cells)


def saving(language: str) -> str:
    """Return which share of a run goes into checkpoints."""

    def cells(found: dict[str, Any]) -> list[str]:
        shares = [f"{found[name]:.2%}" for name in ("share", "share_before_the_last")]
        counts = [f"{found['steps']:,}", str(found["saves"]), f"{found['file_mb']:g}"]
        return [*counts, f"{found['seconds']:.1f}", *shares]

    return loop_table(language, "saving", cells)


def waiting(language: str) -> str:
    """Return what a clock shows that waits for the GPU, and one that does not."""
    text, content = TEXT[language], load("waiting")
    rows = []
    for reading in content["readings"]:
        low, high = (f"{1e3 * reading[name]:.3f}" for name in ("low", "high"))
        rate = 2 * content["size"] ** 3 / reading["median"] / 1e12
        limits = text["times"].format(low=low, high=high)
        name = text["yes" if reading["waits"] else "no"]
        rows.append([name, f"{1e3 * reading['median']:.3f}", limits, figures(rate)])
    where = text["product"].format(**content, **content["versions"])
    return table(text["waiting"].split(" | "), rows) + f"\n{where}\n"


OTHERS = {
    "benchmark-loop-overhead": overhead,
    "benchmark-loop-saving": saving,
    "benchmark-waiting": waiting,
}


def names() -> set[str]:
    """Return the names of the tables."""
    return {*BENCHMARKS, *OTHERS}


def render(name: str, language: str) -> str:
    """Return the table `name` in `language` ("en" or "zh"). Raises KeyError for an unknown name."""
    if name in BENCHMARKS:
        return levels(BENCHMARKS[name], language)
    return OTHERS[name](language)
