"""Tables of the genomic system: accuracy, masked bases, and what pre-training brings, for several seeds."""

import statistics
from collections.abc import Callable, Sequence
from typing import Any

from markdown_tables import SPREAD, Column, written
from origins import explained, load, origin

SHARE, LOSS, POINTS = written(".1%"), written(".3f"), written("+.1f", 100)
SECONDS = Column("Seconds", "秒", "seconds", written(".0f"))
BEST = {"en": "best possible", "zh": "最高可能"}
PRETRAINING = (
    Column("Sequences with classes", "有类别的序列", "name"),
    Column("From random weights", "从随机权重开始", "without", SHARE),
    Column("After pre-training", "预训练之后", "after", SHARE),
    Column("Gained, points", "提高，百分点", "gain", POINTS, SPREAD),
)


def columns(seeds: Sequence[int], first: Column, number: Callable[[float], str]) -> list[Column]:
    """Return a column for each seed between `first` and the mean."""
    each = [Column(f"Seed {seed}", f"种子 {seed}", seed, number) for seed in seeds]
    return [first, *each, Column("Mean", "平均", "mean", number)]


def by_seed(name: Any, values: Sequence[float], data: dict[str, Any]) -> dict[Any, Any]:
    """Return a row with the value of each seed and their mean."""
    return {"name": name, "mean": statistics.fmean(values)} | dict(zip(data["seeds"], values, strict=True))


def runs_of(data: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the runs by their ids."""
    return {run["id"]: run for run in data["runs"]}


def classes(language: str) -> str:
    """Return the accuracy of each way to treat the strands, and the best possible one."""
    data = load("genomic_runs")
    runs = runs_of(data)
    rows = [
        by_seed(run["name"], run["test_accuracy"], data) | {"seconds": statistics.median(run["seconds"])}
        for run in (runs["motif"], runs["averaged"], runs["one_strand"])
    ]
    rows.append(by_seed(BEST, runs["motif"]["best_possible_accuracy"], data))
    first = Column("Strands", "链", "name")
    return explained([*columns(data["seeds"], first, SHARE), SECONDS], rows, language, origin(data, language))


def masked(language: str) -> str:
    """Return the loss on masked bases of held-out sequences."""
    data = load("genomic_runs")
    rows = [
        by_seed(run["name"], run["val_loss"], data)
        | {"right": statistics.fmean(run["val_accuracy"]), "seconds": statistics.median(run["seconds"])}
        for run in map(runs_of(data).get, ("markov", "hairpin"))
    ]
    right = Column("Bases right", "猜对的碱基", "right", SHARE)
    first = Column("Data", "数据", "name")
    return explained(
        [*columns(data["seeds"], first, LOSS), right, SECONDS], rows, language, origin(data, language)
    )


def pretraining(language: str) -> str:
    """Return what fine-tuning reaches with and without pre-training."""
    data = load("genomic_runs")
    runs, rows = runs_of(data), []
    for without, after in (("few", "few_pretrained"), ("motif", "pretrained")):
        before, found = (runs[name]["test_accuracy"] for name in (without, after))
        gains = [own - other for own, other in zip(found, before, strict=True)]
        spread = {"median": statistics.fmean(gains), "low": min(gains), "high": max(gains)}
        means = {"without": statistics.fmean(before), "after": statistics.fmean(found)}
        rows.append(means | {"name": runs[after]["name"], "gain": spread})
    return explained(PRETRAINING, rows, language, origin(data, language))


TABLES: dict[str, Callable[[str], str]] = {
    "genomic-classes": classes,
    "genomic-masked": masked,
    "genomic-pretraining": pretraining,
}
