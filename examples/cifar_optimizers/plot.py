"""Draw the curves of a run from its metrics.jsonl."""

from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from snippets.run_folder import read_metrics

TRAINING, HELD_OUT, LIMIT = (
    "#0072b2",
    "#d55e00",
    "#666666",
)  # Okabe and Ito: distinct for colour-blind readers too


def draw_curves(metrics: Path, image: Path, title: str, limits: dict[str, float | None]) -> None:
    """Write a picture of loss and accuracy by epoch to `image`.

    `limits` may name "loss" (the least that noisy labels allow) and "accuracy" (the best possible one, from 0
    to 1); None draws no line.
    """
    lines = read_metrics(metrics)
    epochs = [line for line in lines if "test_accuracy" in line]
    figure = Figure(figsize=(9, 3.8), layout="constrained")
    loss, accuracy = figure.subplots(1, 2)
    batches = [(line["epoch"], line["loss"]) for line in lines]
    loss.plot(*zip(*batches, strict=True), color=TRAINING, alpha=0.25, label="training, one batch")
    draw(loss, epochs, "train_loss", "test_loss", 1)
    draw(accuracy, epochs, "train_accuracy", "test_accuracy", 100)
    for axes, name, factor in ((loss, "loss", 1), (accuracy, "accuracy", 100)):
        if limits.get(name) is not None:
            axes.axhline(limits[name] * factor, color=LIMIT, linestyle="--", linewidth=1, label="limit")
        axes.set_xlabel("epoch")
        axes.set_xlim(left=0)
        axes.grid(alpha=0.25)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False)
    loss.set_ylabel("cross-entropy (nats)")
    loss.set_yscale("log")  # it falls by factors, and the first epochs must not squeeze the rest
    accuracy.set_ylabel("accuracy (%)")
    figure.suptitle(title, fontsize=11)
    figure.savefig(image, dpi=150)


def draw(axes: Axes, epochs: list[dict[str, Any]], training: str, held_out: str, factor: int) -> None:
    """Draw two metrics of each epoch into `axes`, multiplied by `factor`."""
    for metric, colour, label in ((training, TRAINING, "training"), (held_out, HELD_OUT, "held out")):
        points = [(line["epoch"], line[metric] * factor) for line in epochs if line[metric] is not None]
        axes.plot(*zip(*points, strict=True), color=colour, marker="o", markersize=3, label=label)
