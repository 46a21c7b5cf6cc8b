"""Tables of the memory that training needs, and of what each batch size takes and brings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from results_table import load, table

TEXT = {
    "en": {
        "optimizer": "Optimizer",
        "weights": "Weights",
        "gradients": "Gradients",
        "states": "Optimizer states",
        "total": "Together",
        "batch": "Batch size",
        "kept": "Kept for the backward pass",
        "with_adam": "With weights, gradients and Adam's states",
        "computed": "{network}. Computed, not measured; a test computes it again.",
        "step": "ms per step",
        "speed": "Samples per second",
        "held": "Memory held",
        "peak": "Peak of live tensors",
        "measured": "{machine}; PyTorch {torch}, Python {python}; {date}. Made by `{command}`.",
    },
    "zh": {
        "optimizer": "优化器",
        "weights": "权重",
        "gradients": "梯度",
        "states": "优化器状态",
        "total": "合计",
        "batch": "批大小",
        "kept": "为反向传播保留的数据",
        "with_adam": "加上权重、梯度和 Adam 的状态",
        "computed": "{network}。由计算得出，不是测量值；测试会重新计算一遍。",
        "step": "每步毫秒数",
        "speed": "每秒样本数",
        "held": "占用的内存",
        "peak": "存活张量的峰值",
        "measured": "{machine}；PyTorch {torch}，Python {python}；{date}。由 `{command}` 生成。",
    },
}


def megabytes(size: int) -> str:
    """Return bytes as MB (10⁶ bytes)."""
    return f"{size / 1e6:,.1f} MB"


def optimizers(language: str) -> str:
    """Return what each optimizer makes of the same network."""
    text, data = TEXT[language], load("training_memory")
    rows = []
    for row in data["optimizers"]:
        name = row["name"][language] if isinstance(row["name"], dict) else row["name"]
        parts = [data["weights"], data["gradients"], row["states"]]
        rows.append([name, *map(megabytes, parts), megabytes(sum(parts))])
    head = [text[key] for key in ("optimizer", "weights", "gradients", "states", "total")]
    return f"{table(head, rows)}\n{_computed(data, language)}\n"


def batches(language: str) -> str:
    """Return what each batch size adds."""
    text, data = TEXT[language], load("training_memory")
    adam = next(row["states"] for row in data["optimizers"] if row["make"] == "adam")
    fixed = data["weights"] + data["gradients"] + adam
    rows = [
        [str(row["size"]), megabytes(row["kept_bytes"]), megabytes(row["kept_bytes"] + fixed)]
        for row in data["batches"]
    ]
    return (
        f"{table([text[key] for key in ('batch', 'kept', 'with_adam')], rows)}\n{_computed(data, language)}\n"
    )


def _computed(data: dict[str, Any], language: str) -> str:
    return TEXT[language]["computed"].format(network=data["network"][language])


def sweep(language: str) -> str:
    """Return speed and memory of one training at several batch sizes, as they were measured."""
    text, data = TEXT[language], load("batch_size_sweep")
    rows = []
    for row in data["rows"]:
        speed = f"{row['samples_per_s']:,.0f}"
        held, peak = (f"{row[key]:,.0f} MB" for key in ("held_mb", "peak_mb"))
        rows.append([str(row["batch_size"]), f"{row['step_ms']:.1f}", speed, held, peak])
    where = text["measured"].format(
        machine=data["machine"][language], **data["versions"], date=data["date"], command=data["command"]
    )
    head = [text[key] for key in ("batch", "step", "speed", "held", "peak")]
    return f"{table(head, rows)}\n{where}\n"


TABLES: dict[str, Callable[[str], str]] = {
    "memory-optimizers": optimizers,
    "memory-batches": batches,
    "memory-sweep": sweep,
}


def names() -> set[str]:
    """Return the names of the tables."""
    return set(TABLES)


def render(name: str, language: str) -> str:
    """Return the table `name` in `language` ("en" or "zh"). Raises KeyError for an unknown name."""
    return TABLES[name](language)
