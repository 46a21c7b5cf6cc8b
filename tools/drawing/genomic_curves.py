"""Draw the learning curves of the genomic system: classes of sequences, and masked bases.

    python -m tools.drawing.genomic_curves

writes docs/assets/images/genomic-curves-*.svg from docs/data/results/genomic_runs.yaml.
"""

from __future__ import annotations

import sys
from typing import Any

import yaml
from matplotlib.figure import Figure

from examples.programs.report import Curves, draw_panel
from tools.drawing import page_pictures

DATA = page_pictures.ROOT / "docs/data/results/genomic_runs.yaml"
HEIGHT = 520
CHINESE = {
    "epoch": "轮",
    "accuracy": "准确率",
    "loss, masked bases (nats)": "掩码碱基的损失（nat）",
    "training": "训练",
    "held out": "留出",
    "training, one batch": "训练，单个批次",
    "best possible": "最高可能",
    "sees one side": "只看一侧",
    "sees both sides": "两侧都看",
}


def measured() -> dict[str, dict[str, Any]]:
    """Return the runs by their ids."""
    return {run["id"]: run for run in yaml.safe_load(DATA.read_text(encoding="utf-8"))["runs"]}


def draw(figure: Figure) -> None:
    """Draw accuracy on classes with the best possible, and loss on masked bases with its floors."""
    runs = measured()
    classes, masked = runs["motif"], runs["markov"]
    parts = {"training": "train_accuracy", "held out": "val_accuracy"}
    best = {"best possible": classes["best_possible_accuracy"][0]}
    floors = {"sees one side": masked["floors"]["before"], "sees both sides": masked["floors"]["both sides"]}
    loss = "loss, masked bases (nats)"
    panels = (
        (classes, Curves("accuracy", parts, best, percent=True)),
        (masked, Curves(loss, {"held out": "val_loss"}, floors, single="loss")),
    )
    place = {"left": 0.2, "right": 0.97, "top": 0.985, "bottom": 0.1, "hspace": 0.28}
    for axes, (run, curves) in zip(figure.subplots(2, 1, gridspec_kw=place), panels, strict=True):
        draw_panel(axes, run["metrics"], curves)
        axes.legend(loc="upper right" if curves.single else "lower right", frameon=False)
    figure.align_ylabels()


def pictures() -> dict[str, str]:
    """Return all pictures by file name."""
    return page_pictures.pictures("genomic-curves", HEIGHT, draw, CHINESE)


if __name__ == "__main__":
    page_pictures.write_pictures(pictures())
    sys.exit(0)
