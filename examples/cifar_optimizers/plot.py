"""Draw the curves of a run from its metrics.jsonl."""

from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from snippets.run_folder import read_metrics

TRAINING, HELD_OUT, LIMIT = (
    "#0072b2",
    "#d55e00",
    "#666666",
)  # Okabe and Ito: distinct to all eyes


def draw_curves(
    metrics: Path,
    image: Path,
    title: str,
    least_loss: float | None = None,
    best_accuracy: float | None = None,
) -> None:
    """Write a picture of loss and accuracy by epoch to `image`.

    `least_loss` is what noisy labels allow on average, `best_accuracy` (0 to 1) what any rule can reach; each
    becomes a dashed line.
    """
    lines = read_metrics(metrics)
    figure = Figure(figsize=(9, 3.8), layout="constrained")
    loss, accuracy = figure.subplots(1, 2)
    batches = [line["epoch"] for line in lines], [line["loss"] for line in lines]
    loss.plot(*batches, color=TRAINING, alpha=0.25, label="training, one batch")
    draw(loss, lines, "loss", least_loss, "below: memorised")
    draw(accuracy, lines, "accuracy", best_accuracy, "best possible")
    loss.set_ylabel("cross-entropy (nats)")
    loss.set_yscale("log")  # it falls by factors, and the first epochs must not squeeze the rest
    accuracy.set_ylabel("accuracy")
    accuracy.yaxis.set_major_formatter(PercentFormatter(1))
    figure.suptitle(title, fontsize=11)
    figure.savefig(image, dpi=150)


def draw(axes: Axes, lines: list[dict[str, Any]], metric: str, limit: float | None, name: str) -> None:
    """Draw `metric` of the training and the held-out images, and a dashed line called `name` at `limit`."""
    for part, colour, label in (("train", TRAINING, "training"), ("test", HELD_OUT, "held out")):
        points = [(line["epoch"], line.get(f"{part}_{metric}")) for line in lines]
        points = [(epoch, value) for epoch, value in points if value is not None]
        axes.plot(*zip(*points, strict=True), color=colour, marker="o", markersize=3, label=label)
    if limit is not None:
        axes.axhline(limit, color=LIMIT, linestyle="--", linewidth=1, label=name)
    axes.set_xlabel("epoch")
    axes.set_xlim(left=0)
    axes.grid(alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
