"""Draw the curves of a recorded run for the pages: loss and accuracy by epoch."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from matplotlib.figure import Figure

from examples.programs.report import Curves, draw_panel
from examples.programs.run_folder import read_metrics
from tools.drawing import page_pictures

PANELS = (
    Curves(
        "cross-entropy",
        {"training": "train_loss", "held out": "test_loss"},
        single="loss",
        logarithmic=True,  # a network that has just begun can be wrong with great confidence
    ),
    Curves("accuracy", {"training": "train_accuracy", "held out": "test_accuracy"}, percent=True),
)
HEIGHT = 480
CHINESE = {
    "cross-entropy": "交叉熵",
    "accuracy": "准确率",
    "epoch": "轮",
    "training": "训练",
    "held out": "留出",
    "training, one batch": "训练，单个批次",
}


def draw(metrics: Path, figure: Figure) -> None:
    """Draw a run's metrics.jsonl. Raises ValueError when it holds no finished epoch."""
    lines = read_metrics(metrics)
    if not any("test_accuracy" in line for line in lines):
        raise ValueError(f"{metrics} holds no finished epoch")
    place = {"left": 0.22, "right": 0.97, "top": 0.985, "bottom": 0.11, "hspace": 0.32}
    for axes, curves in zip(figure.subplots(2, 1, gridspec_kw=place), PANELS, strict=True):
        draw_panel(axes, lines, curves)
        axes.lines[0].set_alpha(0.7 if curves.single else 1)  # thin, so it must not be pale as well
        if curves.logarithmic:
            axes.yaxis.set_major_formatter("{x:g}")
        axes.legend(loc="upper right" if curves.logarithmic else "lower right", frameon=False)
    figure.align_ylabels()


def pictures(metrics: Path, name: str) -> dict[str, str]:
    """Return all pictures of a run by file name."""
    return page_pictures.pictures(name, HEIGHT, partial(draw, metrics), CHINESE)
