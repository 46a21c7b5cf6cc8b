"""Draw the stored evaluation of the indicator transformer for the pages: calibration, and what is selected.

    python -m tools.drawing.evaluation

writes docs/assets/images/indicator-{calibration,markets}-*.svg, charts of the program's evaluation.png,
from docs/data/results/indicator_evaluation.json.
"""

from __future__ import annotations

import json
import sys
from functools import partial
from typing import Any

from matplotlib.figure import Figure

from examples.indicator_transformer import evaluation_plot
from tools.drawing.page_pictures import ROOT, pictures, write_pictures

DATA = ROOT / "docs/data/results/indicator_evaluation.json"
HEIGHTS = {"calibration": 640, "markets": 545}
CHINESE = {
    "mean usefulness": "平均有用程度",
    "difference": "差",
    "count": "预测数",
    "predicted probability of usefulness": "预测的有用概率",
    "as often as predicted": "与预测一致",
    "what the loss aims at": "损失的目标",
    "held out, ± standard error": "留出样本，± 标准误差",
    "low volume": "低成交量",
    "high volume": "高成交量",
    "calm": "平静",
    "volatile": "波动大",
    "call with the move": "判断行情延续",
    "call back to the middle": "判断行情反转",
}


def draw_calibration(evaluation: dict[str, Any], figure: Figure) -> None:
    """Draw usefulness, its distance from the probability, and the counts, one below the other."""
    place = {"left": 0.22, "right": 0.97, "top": 0.985, "bottom": 0.08, "hspace": 0.13}
    scatter, deviation, counts = figure.subplots(
        3, 1, sharex=True, height_ratios=(4, 2, 1.4), gridspec_kw=place
    )
    evaluation_plot.draw_calibration(scatter, deviation, counts, evaluation["calibration"])
    scatter.set_title("", loc="left")
    scatter.legend(loc="lower right", frameon=False)
    figure.align_ylabels()


def draw_markets(evaluation: dict[str, Any], figure: Figure) -> None:
    """Draw what is selected in which market; narrow columns have their headings in two lines."""
    axes = figure.add_axes((0.4, 0.01, 0.53, 0.91))
    evaluation_plot.draw_selection(axes, evaluation["indicators"], evaluation["regimes"])
    axes.set_title("", loc="left")
    axes.set_xticks([])
    for column, regime in enumerate(evaluation["regimes"]):
        volume, kind = regime["name"].split(", ")
        axes.text(column, -0.7, kind, ha="center")
        if kind == "calm":
            axes.text(column + 0.5, -1.6, volume, ha="center")


def evaluation_pictures(evaluation: dict[str, Any]) -> dict[str, str]:
    """Return all pictures by file name."""
    draw = {"calibration": draw_calibration, "markets": draw_markets}
    found: dict[str, str] = {}
    for name, height in HEIGHTS.items():
        found |= pictures(f"indicator-{name}", height, partial(draw[name], evaluation), CHINESE)
    return found


def main() -> int:
    """Draw the stored evaluation."""
    write_pictures(evaluation_pictures(json.loads(DATA.read_text(encoding="utf-8"))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
