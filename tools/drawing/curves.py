"""Draw the curves of a recorded run as SVG: loss and accuracy by epoch."""

from __future__ import annotations

import json
import math
from functools import partial
from pathlib import Path

from tools.drawing.svg_chart import (
    COLOURS,
    Axis,
    Entry,
    Panel,
    decades,
    in_all_forms,
    legend,
    picture,
    stroke,
)

PANEL = 150  # height of one plot area
TOP = 66, 296  # of the losses, of the accuracies

WORDS = {
    "en": {"loss": "cross-entropy (log scale)", "accuracy": "accuracy (%)", "epoch": "epoch"}
    | {"train": "training", "test": "held out", "step": "single steps"},
    "zh": {"loss": "交叉熵（对数坐标）", "accuracy": "准确率（%）", "epoch": "轮"}
    | {"train": "训练", "test": "留出", "step": "单步"},
}


def draw(metrics: Path, language: str, scheme: str) -> str:
    """Return the SVG of a run's metrics.jsonl. Raises ValueError when it holds no finished epoch."""
    lines = [json.loads(line) for line in metrics.read_text(encoding="utf-8").splitlines()]
    epochs = [line for line in lines if line.get("test_accuracy") is not None]
    if not epochs:
        raise ValueError(f"{metrics} holds no finished epoch")
    words, colours = WORDS[language], COLOURS[scheme]
    single = [(line["epoch"], line["loss"]) for line in lines]
    losses = [value for _, value in single] + [
        line[name] for line in epochs for name in ("train_loss", "test_loss")
    ]
    last = max(line["epoch"] for line in epochs)
    x = Axis(0, last, tuple(range(0, math.floor(last) + 1, max(1, math.ceil(last / 6)))))
    # A network that has just begun can be wrong with great confidence on held-out images: losses are spread
    # over decades, and only a logarithmic axis shows them all.
    loss = Panel(x, decades(min(losses), max(losses)), TOP[0], PANEL, colours)
    accuracy = Panel(x, Axis(0, 100, (0, 25, 50, 75, 100)), TOP[1], PANEL, colours)
    train, test = stroke(colours["blue"]), stroke(colours["orange"])
    step = stroke(colours["blue"], 1, opacity=".7")
    entries = [
        Entry(words["train"], train),
        Entry(words["test"], test, dot=colours["orange"]),
        Entry(words["step"], step),
    ]
    parts = [
        *legend(entries, 3, colours),
        *loss.frame(words["loss"], words["epoch"]),
        loss.line(single, step),
        *accuracy.frame(words["accuracy"], words["epoch"]),
    ]
    for panel, metric, factor in ((loss, "loss", 1), (accuracy, "accuracy", 100)):
        trained, tested = (
            [(line["epoch"], line[f"{part}_{metric}"] * factor) for line in epochs]
            for part in ("train", "test")
        )
        parts += [panel.line(trained, train), panel.line(tested, test)]
        parts += panel.dots(tested, colours["orange"])  # tell held-out images apart without colour
    return picture(accuracy.bottom + 46, parts)


def pictures(metrics: Path, name: str) -> dict[str, str]:
    """Return all pictures of a run by file name."""
    return in_all_forms(name, partial(draw, metrics))
