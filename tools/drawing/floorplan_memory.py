"""Draw how much memory a training step of stage 2 takes at its peak, and how long it lasts.

    python -m tools.drawing.floorplan_memory

writes docs/assets/images/floorplan-memory-*.svg from docs/data/results/floorplan_memory.yaml.
"""

from __future__ import annotations

import sys
from typing import Any

import yaml
from matplotlib.figure import Figure

from tools.drawing import page_pictures
from tools.drawing.bars import draw_bars

DATA = page_pictures.ROOT / "docs/data/results/floorplan_memory.yaml"
GPU, BATCH_SIZE, CORNERS = "NVIDIA H200", 8, 53  # of the measurement that is shown
ROWS = {
    "ordered": "all ordered pairs",
    "ordered_recomputed": "ordered, recomputed",
    "once": "each pair once",
    "once_recomputed": "once, recomputed",
    "once_real_recomputed": "20 to 40 corners",
    "once_fused": "once, fused",
    "once_fused_recomputed": "fused, recomputed",
}
OURS = "once_recomputed"
HEIGHT = 440
CHINESE = {
    "peak of a step on an H200, GB": "H200 上一步的峰值，GB",
    "time of a step on an H200, ms": "H200 上一步的时间，ms",
    "all ordered pairs": "所有有序对",
    "ordered, recomputed": "有序对，重新计算",
    "each pair once": "每对一次",
    "once, recomputed": "一次，重新计算",
    "20 to 40 corners": "20 到 40 个墙角",
    "once, fused": "一次，融合",
    "fused, recomputed": "融合，重新计算",
}


def measured() -> dict[str, dict[str, Any]]:
    """Return the measurement that is shown, by the form in which a step was computed."""
    wanted = GPU, BATCH_SIZE, CORNERS
    (entry,) = (
        entry
        for entry in yaml.safe_load(DATA.read_text(encoding="utf-8"))
        if (entry["machine"]["gpu"], entry["batch_size"], entry["corners"]) == wanted
    )
    return {row["form"]: row for row in entry["forms"]}


def draw(figure: Figure) -> None:
    """Draw peak and time of each form."""
    forms = measured()
    parts = {
        "peak of a step on an H200, GB": {
            name: forms[form]["peak_bytes"] / 1e9 for form, name in ROWS.items()
        },
        "time of a step on an H200, ms": {
            name: 1e3 * forms[form]["seconds"]["median"] for form, name in ROWS.items()
        },
    }
    draw_bars(figure, parts, ROWS[OURS], space=0.2)


def pictures() -> dict[str, str]:
    """Return all pictures by file name."""
    return page_pictures.pictures("floorplan-memory", HEIGHT, draw, CHINESE)


if __name__ == "__main__":
    page_pictures.write_pictures(pictures())
    sys.exit(0)
