"""Tables of the memory that training needs, and of what each batch size takes and brings."""

from __future__ import annotations

from collections.abc import Callable

from benchmark_files import of_training
from markdown_tables import Column, written
from origins import explained, load, origin, tf32

MB = written(",.1f", 1e-6)  # of bytes
OPTIMIZERS = (
    Column("Optimizer", "优化器", "name"),
    Column("Weights", "权重", "weights", MB, "{} MB"),
    Column("Gradients", "梯度", "gradients", MB, "{} MB"),
    Column("Optimizer states", "优化器状态", "states", MB, "{} MB"),
    Column("Together", "合计", "total", MB, "{} MB"),
)
BATCHES = (
    Column("Batch size", "批大小", "size"),
    Column("Kept for the backward pass", "为反向传播保留的数据", "kept_bytes", MB, "{} MB"),
    Column(
        "With weights, gradients and Adam's states", "加上权重、梯度和 Adam 的状态", "with_adam", MB, "{} MB"
    ),
)
SWEEP = (
    Column("Batch size", "批大小", "batch_size"),
    Column("ms per step", "每步毫秒数", "median_s", written(".1f", 1e3)),
    Column("Samples per second", "每秒样本数", "samples_per_s", written(",.0f")),
    Column("Memory held", "占用的内存", "memory_mb", written(",.0f"), "{} MB"),
    Column("Peak of live tensors", "存活张量的峰值", "peak_mb", written(",.0f"), "{} MB"),
)
SWEPT = "cifar_optimizers", "--data synthetic --image-size 32 --width 64"
COMPUTED = {
    "en": "{}. Computed, not measured; a test computes it again.",
    "zh": "{}。由计算得出，不是测量值；测试会重新计算一遍。",
}


def optimizers(language: str) -> str:
    """Return what each optimizer makes of the same network."""
    data = load("training_memory")
    fixed = {name: data[name] for name in ("weights", "gradients")}
    rows = [row | fixed | {"total": row["states"] + sum(fixed.values())} for row in data["optimizers"]]
    return explained(OPTIMIZERS, rows, language, COMPUTED[language].format(data["network"][language]))


def batches(language: str) -> str:
    """Return what each batch size adds."""
    data = load("training_memory")
    adam = next(row["states"] for row in data["optimizers"] if row["make"] == "adam")
    fixed = data["weights"] + data["gradients"] + adam
    rows = [row | {"with_adam": row["kept_bytes"] + fixed} for row in data["batches"]]
    return explained(BATCHES, rows, language, COMPUTED[language].format(data["network"][language]))


def sweep(language: str) -> str:
    """Return speed and memory of one training at several batch sizes, a table for each machine."""
    first = load("batch_size_sweep")
    found = [(first, first["rows"])]
    found += [(each.origin, each.content["rows"]) for each in of_training(*SWEPT)]
    return "\n".join(
        explained(SWEEP, rows, language, origin(where, language), tf32(where["machine"], language))
        for where, rows in found
    )


TABLES: dict[str, Callable[[str], str]] = {
    "memory-optimizers": optimizers,
    "memory-batches": batches,
    "memory-sweep": sweep,
}
