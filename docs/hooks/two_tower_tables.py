"""Tables of the two-tower system: retrieval for several splits, and memory and time of the selective scan."""

import statistics
from collections.abc import Callable
from typing import Any

from markdown_tables import SPREAD, Column, figures, milliseconds, written
from origins import explained, load, origin, processor

SHARE, MEAN = written(".1%"), written(".3f")
BEFORE_AFTER = "{}\N{NO-BREAK SPACE}→\N{NO-BREAK SPACE}{}"
MEAN_ROW = {"en": "Mean", "zh": "平均"}
SPLITS = (
    Column("Seed", "种子", "seed"),
    Column("Contexts held out", "留出的上下文", "queries", "{:.4g}".format),
    Column("R@1", "R@1", ("recall_1 before", "recall_1"), SHARE, BEFORE_AFTER),
    Column("R@5", "R@5", ("recall_5 before", "recall_5"), SHARE, BEFORE_AFTER),
    Column("MRR", "MRR", ("mrr before", "mrr"), MEAN, BEFORE_AFTER),
)
BATCH_ALONE = ["--same-article-k", "0", "--near-miss-k", "0"]
POINTS = written("+.1f", 100)
NEGATIVES = (
    Column("Extra negatives", "额外负样本", "name"),
    Column("R@1", "R@1", "recall_1", SHARE),
    Column("R@5", "R@5", "recall_5", SHARE),
    Column("MRR", "MRR", "mrr", MEAN),
    Column("R@5 gained over none, points", "R@5 比不用时提高，百分点", "gain", POINTS, SPREAD),
)
GB = written(".3g", 1e-9)
WAYS = {
    "scan": {"en": "our scan", "zh": "本手册的扫描"},
    "loop": {"en": "the loop", "zh": "循环"},
    "recomputed": {"en": "the loop, each block recomputed", "zh": "循环，每个块重新计算"},
}
MEMORY = (
    Column("Way", "做法", "way", WAYS.__getitem__),
    Column("Kept by the eight scans", "八个扫描保留", "scans_bytes", GB, "{} GB"),
    Column("Kept by the whole step", "整个训练步保留", "kept_bytes", GB, "{} GB"),
    Column("Peak", "峰值", "peak_bytes", GB, "{} GB"),
    Column("ms per step", "每步毫秒数", "seconds", milliseconds, "{median}"),
)
PEAK = {
    "en": "Batch size {batch_size}, {parameters:,} parameters, float32. The peak comes on top of "
    "{always:.2f} GB for weights, gradients and the optimizer; times are medians.",
    "zh": "批大小 {batch_size}，{parameters:,} 个参数，float32。峰值不含权重、梯度和优化器的 "
    "{always:.2f} GB；用时是中位数。",
}
TIMES = (
    Column("Device", "设备", "device"),
    Column("Batch × positions × channels × state", "批 × 位置 × 通道 × 状态", "size"),
    Column("The loop, ms", "循环，ms", "loop", milliseconds, "{median}"),
    Column("Our scan, ms", "本手册的扫描，ms", "scan", milliseconds, "{median}"),
    Column("Ratio", "比值", "ratio", figures, SPREAD),
)


def splits(language: str) -> str:
    """Return retrieval before and after training, a row for each seed, and their means."""
    data = load("two_tower_pages")
    scores = data["runs"][0]["best"] | {
        f"{name} before": values for name, values in data["runs"][0]["untrained"].items()
    }
    scores["queries"] = data["runs"][0]["queries"]
    rows = [
        {"seed": seed} | {name: values[place] for name, values in scores.items()}
        for place, seed in enumerate(data["seeds"])
    ]
    rows.append({"seed": MEAN_ROW} | {name: statistics.fmean(values) for name, values in scores.items()})
    return explained(SPLITS, rows, language, origin(data, language))


def negatives(language: str) -> str:
    """Return what each kind of extra negatives reaches on average, and what it brings split by split."""
    data, rows = load("two_tower_pages"), []
    without = next(run for run in data["runs"] if run["options"] == BATCH_ALONE)["best"]["recall_5"]
    for run in data["runs"]:
        found = run["best"]
        gains = [own - other for own, other in zip(found["recall_5"], without, strict=True)]
        spread = {"median": statistics.fmean(gains), "low": min(gains), "high": max(gains)}
        means = {name: statistics.fmean(values) for name, values in found.items()}
        rows.append(means | {"name": run["name"], "gain": None if run["options"] == BATCH_ALONE else spread})
    return explained(NEGATIVES, rows, language, origin(data, language))


def memory(language: str) -> str:
    """Return what a step of the large towers keeps and takes in each way, a table for each machine."""
    return "\n".join(memory_of(entry, language) for entry in load("two_tower_memory"))


def memory_of(entry: dict[str, Any], language: str) -> str:
    """Return the table of one machine."""
    about = PEAK[language].format(**entry, always=entry["always_bytes"] / 1e9)
    return explained(MEMORY, entry["ways"], language, about, origin(entry, language))


def times(language: str) -> str:
    """Return how long a forward and a backward pass of the scan and of the loop take."""
    rows, where = [], []
    for entry in load("selective_scan"):
        name = processor(entry["machine"], entry["device"], language)
        for found in entry["speed"]:
            rows.append(found | {"device": name, "size": " × ".join(map(str, found["shape"]))})
        where.append(origin(entry, language))
    return explained(TIMES, rows, language, *where)


TABLES: dict[str, Callable[[str], str]] = {
    "two-tower-splits": splits,
    "two-tower-negatives": negatives,
    "two-tower-memory": memory,
    "selective-scan-times": times,
}
