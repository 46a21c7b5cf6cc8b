"""Draw the curves of a run from its metrics.jsonl, in colours that all eyes can tell apart."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from snippets.framework.run_folder import read_metrics

TRAINING, HELD_OUT, LIMIT = "#0072b2", "#d55e00", "#666666"  # Okabe and Ito; grey
PARTS = {"training": TRAINING, "held out": HELD_OUT}


@dataclass(frozen=True)
class Curves:
    """What one panel shows by epoch: the metric of each part of the data, and limits that are known."""

    title: str
    metrics: dict[str, str]  # by part: "training" or "held out"
    limits: dict[str, float | None] = field(default_factory=dict)  # dashed lines; the second is dotted
    single: str | None = None  # the metric of single batches of the training data
    logarithmic: bool = False
    percent: bool = False


def draw_curves(metrics: Path, image: Path, title: str, panels: Sequence[Curves]) -> None:
    """Write a picture of a run's metrics to `image`, a panel for each of `panels`."""
    lines = read_metrics(metrics)
    figure = Figure(figsize=(9, 3.8), layout="constrained")
    for axes, curves in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True):
        draw_panel(axes, lines, curves)
    figure.suptitle(title, fontsize=11)
    figure.savefig(image, dpi=150)


def draw_panel(axes: Axes, lines: list[dict[str, Any]], curves: Curves) -> None:
    """Draw the curves of one panel; values that are missing are left out."""
    if curves.single:
        axes.plot(*points(lines, curves.single), color=TRAINING, alpha=0.25, label="training, one batch")
    for part, metric in curves.metrics.items():
        axes.plot(*points(lines, metric), color=PARTS[part], marker="o", markersize=3, label=part)
    for (name, value), style in zip(curves.limits.items(), ("--", ":"), strict=False):
        if value is not None:
            axes.axhline(value, color=LIMIT, linestyle=style, linewidth=1, label=name)
    axes.set(xlabel="epoch", ylabel=curves.title, yscale="log" if curves.logarithmic else "linear")
    axes.set_xlim(left=0)
    if curves.percent:
        axes.yaxis.set_major_formatter(PercentFormatter(1))
    axes.grid(alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)


def points(lines: list[dict[str, Any]], metric: str) -> tuple[list[float], list[float]]:
    """Return the epochs at which a metric is known, and its values."""
    known = [line for line in lines if line.get(metric) is not None]
    return [line["epoch"] for line in known], [line[metric] for line in known]
