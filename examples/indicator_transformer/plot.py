"""Draw the curves of a run from its metrics.jsonl."""

from pathlib import Path

from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from examples.indicator_transformer.usefulness import Optimum
from snippets.run_folder import read_metrics

TRAINING, HELD_OUT, LIMIT = "#0072b2", "#d55e00", "#666666"  # Okabe and Ito: distinct to all eyes


def draw_curves(metrics: Path, image: Path, title: str, optimum: Optimum | None) -> None:
    """Write a picture of cross-entropy and direction by epoch to `image`; dashed lines: what is known."""
    lines = read_metrics(metrics)
    epochs = [line for line in lines if "val_bce" in line]
    figure = Figure(figsize=(9, 3.8), layout="constrained")
    loss, direction = figure.subplots(1, 2)
    at = [line["epoch"] for line in epochs]
    loss.plot(
        at, [line["train_bce"] for line in epochs], color=TRAINING, marker="o", markersize=3, label="training"
    )
    loss.plot(
        at, [line["val_bce"] for line in epochs], color=HELD_OUT, marker="o", markersize=3, label="held out"
    )
    direction.plot(
        at, [line["val_right"] for line in epochs], color=HELD_OUT, marker="o", markersize=3, label="held out"
    )
    if optimum is not None:
        if optimum.blind_bce is not None:
            loss.axhline(optimum.blind_bce, color=LIMIT, linestyle=":", linewidth=1, label="without context")
        loss.axhline(optimum.best_bce, color=LIMIT, linestyle="--", linewidth=1, label="best possible")
        direction.axhline(
            optimum.best_accuracy, color=LIMIT, linestyle="--", linewidth=1, label="best possible"
        )
    loss.set_ylabel("cross-entropy of usefulness (nats)")
    direction.set_ylabel("direction right")
    direction.yaxis.set_major_formatter(PercentFormatter(1))
    for axes in (loss, direction):
        axes.set_xlabel("epoch")
        axes.set_xlim(left=0)
        axes.grid(alpha=0.25)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False)
    figure.suptitle(title, fontsize=11)
    figure.savefig(image, dpi=150)
