"""Draw what a training step of two towers keeps, how much it takes at its peak, and how long it lasts.

    python -m tools.drawing.two_tower_memory

writes docs/assets/images/two-tower-memory-*.svg from docs/data/results/two_tower_memory.yaml.
"""

from __future__ import annotations

import sys
from typing import Any

import yaml
from matplotlib.figure import Figure

from tools.drawing import page_pictures
from tools.drawing.bars import draw_bars

DATA = page_pictures.ROOT / "docs/data/results/two_tower_memory.yaml"
GPU, BATCH_SIZE = "NVIDIA H200", 256  # of the measurement that is shown
GUIDE = 60.2  # MB per sample that the guide's block keeps, rebuilt from its project and counted
ROWS = {"loop": "the loop", "recomputed": "blocks recomputed", "scan": "our scan"}
HEIGHT = 400
CHINESE = {
    "kept for the backward pass, MB per sample": "为反向传播保留的数据，每个样本，MB",
    "peak of a step on an H200, GB": "H200 上一步的峰值，GB",
    "time of a step on an H200, ms": "H200 上一步的时间，ms",
    "the guide's network": "原指南的网络",
    "the loop": "循环",
    "blocks recomputed": "逐块重计算",
    "our scan": "本手册的扫描",
}


def measured() -> dict[str, dict[str, Any]]:
    """Return the measurement that is shown, by the way in which a step was computed."""
    (entry,) = (
        entry
        for entry in yaml.safe_load(DATA.read_text(encoding="utf-8"))
        if entry["machine"]["gpu"] == GPU and entry["batch_size"] == BATCH_SIZE
    )
    return {row["way"]: row for row in entry["ways"]}


def panels() -> dict[str, dict[str, float]]:
    """Return what each part of the picture shows, by its heading: the value of each row."""
    ways = measured()
    kept = {name: ways[way]["kept_bytes"] / 1e6 / BATCH_SIZE for way, name in ROWS.items()}
    return {
        "kept for the backward pass, MB per sample": {"the guide's network": GUIDE} | kept,
        "peak of a step on an H200, GB": {name: ways[way]["peak_bytes"] / 1e9 for way, name in ROWS.items()},
        "time of a step on an H200, ms": {
            name: 1e3 * ways[way]["seconds"]["median"] for way, name in ROWS.items()
        },
    }


def draw(figure: Figure) -> None:
    """Draw the parts."""
    draw_bars(figure, panels(), ROWS["scan"], space=0.35)


def pictures() -> dict[str, str]:
    """Return all pictures by file name."""
    return page_pictures.pictures("two-tower-memory", HEIGHT, draw, CHINESE)


if __name__ == "__main__":
    page_pictures.write_pictures(pictures())
    sys.exit(0)
