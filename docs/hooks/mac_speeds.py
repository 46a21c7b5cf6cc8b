"""How fast the Macs of reports are: operations, and the same short training with each setting.

Nothing is averaged over Macs. No published speed is of the same work (docs/data/published_speeds.yaml has
products of other sizes, other networks, other data), so none stands beside these.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from mac_reports import Report, Step, code, place, steps, table, written
from origins import WORDS as ORIGINS
from rendering import MISSING

from tools.checks.mac_steps import NOT_TRIED, OUTCOMES, RATES

WORDS: dict[str, dict[str, Any]] = {
    "en": {
        "speed": "## How fast { #speed }\n\nTFLOP/s: the median of 10 runs on one Mac, with the lowest and "
        "the highest, and below it the work of a run. Compare only cells with equal work.",
        "speed_head": ("Mac", "Power"),
        "rate": "{median:.3g} ({lowest:.3g} to {highest:.3g})<br>{gflop:g} GFLOP",
        "published": "No published speed stands beside these, because none that we know is of the same work, "
        "with the same network, data and batch size. See "
        "[those of trainings](../start/which-device.md#figures) and "
        "[those of MLX](../start/mps-or-mlx.md#measured): the product in bf16 there has 1,280 rows.",
        "benchmark": "A short training with each setting: the median, with the lowest and the highest. "
        "Where it says `--full`, network and batch are larger: compare those with each other only.",
        "long": "{}; `--full`",
        "cores": "{}, {} GPU cores",
        "training_rate": "{} ({} to {}) {}",
        "failed": "failed",
    },
    "zh": {
        "speed": "## 速度 { #speed }\n\n单位是 TFLOP/s，数字是一台 Mac 上 10 次运行的中位数，"
        "括号里是最低值和最高值，下面一行是一次运行的计算量。请只比较计算量相同的格子。",
        "speed_head": ("Mac", "供电"),
        "rate": "{median:.3g}（{lowest:.3g} 到 {highest:.3g}）<br>{gflop:g} GFLOP",
        "published": "这里没有并列别人发表的速度，因为我们知道的那些速度，网络、数据和批大小都与表里不同。"
        "请看[发表过的训练速度](../start/which-device.md#figures)和"
        "[与 MLX 的比较](../start/mps-or-mlx.md#measured)，例如其中的 bf16 矩阵乘法是 1,280 行。",
        "benchmark": "下表是用每种设置运行同一段短训练的速度：中位数，括号里是最低值和最高值。"
        "标有 `--full` 的训练，网络和批更大，只能相互比较。",
        "long": "{}；`--full`",
        "cores": "{}，{} 个 GPU 核",
        "training_rate": "{}（{} 到 {}）{}",
        "failed": "失败",
    },
}


def speeds(found: Iterable[Report], language: str) -> str:
    """Return a table with a row for each report; nothing is averaged."""
    words, rows = WORDS[language], []
    kinds = list(dict.fromkeys(one["name"] for report in found for one in measured(report)))
    for report in found:
        figures = {one["name"]: words["rate"].format(**one["figures"]) for one in measured(report)}
        rows.append([*mac(report, language), *(figures.get(kind, MISSING) for kind in kinds)])
    return table([*words["speed_head"], *map(code, kinds)], rows)


def mac(report: Report, language: str) -> list[str]:
    """Return the first cells of a row of speeds: the machine, and where its power came from."""
    power, cores = report["machine"]["power"], report["machine"]["gpu_cores"]
    name = place(report, language)
    name = WORDS[language]["cores"].format(name, cores) if cores else name
    return [name, ORIGINS[language]["power"].get(power, code(power))]


def measured(report: Report) -> list[Mapping[str, Any]]:
    """Return the checks of speed that have figures."""
    return [one for one in report["checks"] if one["group"] == "speed" and one["found"] == "measured"]


def benchmarks(found: Iterable[Report], language: str) -> str:
    """Return the speed of the same training with each setting, a row for each report; "" where none ran."""
    words, rows = WORDS[language], []
    levels = {step["name"]: None for report in found for step in steps(report, "benchmark")}
    for report in found:
        cells = {step["name"]: rate(step, language) for step in steps(report, "benchmark")}
        if cells:
            name, power = mac(report, language)
            name = words["long"].format(name) if report["handbook"]["full"] else name
            rows.append([name, power, *(cells.get(level, MISSING) for level in levels)])
    return table([*words["speed_head"], *map(code, levels)], rows) if rows else ""


def rate(step: Step, language: str) -> str:
    """Return the speed of a step of the benchmark, or what became of it."""
    words = WORDS[language]
    if step["outcome"] != OUTCOMES["benchmark"][0]:
        known = {NOT_TRIED: MISSING, "failed": words["failed"]}
        return known.get(step["outcome"]) or code(step["outcome"])
    low, middle, high = (written(step["figures"][key]) for key in RATES)
    return words["training_rate"].format(middle, low, high, step["figures"]["unit"])


def section(found: Iterable[Report], language: str) -> str:
    """Return the section of the page about speed."""
    words = WORDS[language]
    parts = [words["speed"], speeds(found, language), words["published"]]
    if trainings := benchmarks(found, language):
        parts += [words["benchmark"], trainings]
    return "\n\n".join(parts)
