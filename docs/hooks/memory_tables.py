"""Tables of the memory that training needs, from docs/data/results/training_memory.yaml."""

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
        "provenance": "{network}. Computed, not measured; a test computes it again.",
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
        "provenance": "{network}。由计算得出，不是测量值；测试会重新计算一遍。",
    },
}


def megabytes(size: int) -> str:
    """Return bytes as MB (10⁶ bytes)."""
    return f"{size / 1e6:,.1f} MB"


def optimizers(data: dict[str, Any], language: str) -> str:
    """Return what each optimizer makes of the same network."""
    text = TEXT[language]
    rows = []
    for row in data["optimizers"]:
        name = row["name"][language] if isinstance(row["name"], dict) else row["name"]
        parts = [data["weights"], data["gradients"], row["states"]]
        rows.append([name, *map(megabytes, parts), megabytes(sum(parts))])
    return table([text[key] for key in ("optimizer", "weights", "gradients", "states", "total")], rows)


def batches(data: dict[str, Any], language: str) -> str:
    """Return what each batch size adds."""
    text = TEXT[language]
    adam = next(row["states"] for row in data["optimizers"] if row["make"] == "adam")
    fixed = data["weights"] + data["gradients"] + adam
    rows = [
        [str(row["size"]), megabytes(row["kept_bytes"]), megabytes(row["kept_bytes"] + fixed)]
        for row in data["batches"]
    ]
    return table([text[key] for key in ("batch", "kept", "with_adam")], rows)


TABLES: dict[str, Callable[[dict[str, Any], str], str]] = {
    "memory-optimizers": optimizers,
    "memory-batches": batches,
}


def render(name: str, language: str) -> str:
    """Return the table `name` in `language` ("en" or "zh"). Raises KeyError for an unknown name."""
    data = load("training_memory")
    provenance = TEXT[language]["provenance"].format(network=data["network"][language])
    return f"{TABLES[name](data, language)}\n{provenance}\n"
