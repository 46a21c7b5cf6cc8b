"""Draw what a training step of two towers keeps, how much it takes at its peak, and how long it lasts.

    python -m tools.drawing.two_tower_memory

writes docs/assets/images/two-tower-memory-*.svg from docs/data/results/two_tower_memory.yaml.
"""

from __future__ import annotations

import sys
from typing import Any

import yaml
from matplotlib.figure import Figure

from snippets.framework.run_curves import HELD_OUT, TRAINING
from tools.drawing import page_pictures

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
    """Draw the parts one below the other: a bar for each row, with its value at the end."""
    found = panels()
    place = {"left": 0.42, "right": 0.98, "top": 0.925, "bottom": 0.01, "hspace": 0.35}
    heights = [len(values) for values in found.values()]
    parts = figure.subplots(len(found), 1, height_ratios=heights, gridspec_kw=place)
    for axes, (heading, values) in zip(parts, found.items(), strict=True):
        colours = [TRAINING if name == ROWS["scan"] else HELD_OUT for name in values]
        axes.barh(range(len(values)), list(values.values()), 0.6, color=colours)
        for row, value in enumerate(values.values()):
            shown = f"{value:.0f}" if value >= 100 else f"{value:.1f}"
            axes.annotate(shown, (value, row), (4, 0), textcoords="offset points", va="center")
        axes.set_yticks(range(len(values)), list(values))
        axes.set(xticks=[], xlim=(0, 1.3 * max(values.values())), ylim=(len(values) - 0.5, -0.5))
        axes.tick_params(length=0)
        axes.spines[["top", "right", "bottom"]].set_visible(False)
        figure.text(0.01, axes.get_position().y1 + 0.02, heading)


def pictures() -> dict[str, str]:
    """Return all pictures by file name."""
    return page_pictures.pictures("two-tower-memory", HEIGHT, draw, CHINESE)


if __name__ == "__main__":
    page_pictures.write_pictures(pictures())
    sys.exit(0)
