"""Draw the curves of a recorded run as SVG: loss and accuracy by epoch, for both languages, light and dark.

The pictures are plain text with rounded coordinates, so that they are the same on every machine and a test
can compare them with the metrics that they claim to show. They have no background: the page's shows through.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path

WIDTH, HEIGHT = 760, 300
PANEL = 300, 200  # width and height of one plot area
LEFT, TOP, GAP = 52, 52, 88

WORDS = {
    "en": {"loss": "cross-entropy (log scale)", "accuracy": "accuracy (%)", "epoch": "epoch"}
    | {"train": "training", "test": "held out", "step": "single steps"},
    "zh": {"loss": "交叉熵（对数坐标）", "accuracy": "准确率（%）", "epoch": "轮"}
    | {"train": "训练", "test": "留出", "step": "单步"},
}
# Curves and text are at least 4.5:1 on the page's background (docs/assets/stylesheets/site.css).
COLOURS = {
    "light": {"text": "#4c5b62", "grid": "#dde4e3", "train": "#17607a", "test": "#9a4a12"},
    "dark": {"text": "#a9b8be", "grid": "#263137", "train": "#7cc4dd", "test": "#f0a45d"},
}

Points = list[tuple[float, float]]


@dataclass(frozen=True)
class Axes:
    """One plot area: where it starts, its last epoch, the values of its grid lines, evenly drawn."""

    left: float
    x_max: float
    grid: list[float]
    logarithmic: bool = False

    def place(self, x: float, y: float) -> tuple[float, float]:
        """Return the picture's coordinates of a point."""
        y, low, high = (
            math.log10(value) if self.logarithmic else value for value in (y, self.grid[0], self.grid[-1])
        )
        up = (y - low) / (high - low)
        return self.left + x / self.x_max * PANEL[0], TOP + (1 - up) * PANEL[1]


def draw(metrics: Path, language: str, scheme: str) -> str:
    """Return the SVG of a run's metrics.jsonl. Raises ValueError when it holds no finished epoch."""
    lines = [json.loads(line) for line in metrics.read_text(encoding="utf-8").splitlines()]
    epochs = [line for line in lines if line.get("test_accuracy") is not None]
    if not epochs:
        raise ValueError(f"{metrics} holds no finished epoch")
    words, colours = WORDS[language], COLOURS[scheme]
    last = max(line["epoch"] for line in epochs)
    single = [(line["epoch"], line["loss"]) for line in lines]
    # A network that has just begun can be wrong with great confidence on held-out images: losses are spread
    # over decades, and only a logarithmic axis shows them all.
    losses = [value for _, value in single + curve(epochs, "train_loss") + curve(epochs, "test_loss")]
    loss = Axes(LEFT, last, decades(min(losses), max(losses)), logarithmic=True)
    accuracy = Axes(LEFT + PANEL[0] + GAP, last, [0, 25, 50, 75, 100])
    parts = [
        *frame(loss, words["loss"], words["epoch"], colours),
        line_of(loss, single, f'stroke="{colours["train"]}" stroke-opacity=".5"', 1),
        *curves(loss, epochs, "loss", 1, colours),
        *frame(accuracy, words["accuracy"], words["epoch"], colours),
        *curves(accuracy, epochs, "accuracy", 100, colours),
        *legend(words, colours),
    ]
    style = 'font-family="system-ui, -apple-system, sans-serif" font-size="13" fill="none"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" {style}>'
    return "\n".join([head, *parts, "</svg>"]) + "\n"


def curve(epochs: list[dict], name: str, factor: float = 1) -> Points:
    """Return one metric by epoch."""
    return [(line["epoch"], line[name] * factor) for line in epochs]


def decades(low: float, high: float) -> list[float]:
    """Return the powers of ten from the one below `low` to the one above `high`."""
    first = math.floor(math.log10(low))
    return [10.0**power for power in range(first, max(math.ceil(math.log10(high)), first + 1) + 1)]


def frame(axes: Axes, title: str, epoch: str, colours: dict[str, str]) -> list[str]:
    """Draw title, grid lines and the numbers along both axes."""
    right, bottom = axes.left + PANEL[0], TOP + PANEL[1]
    parts = [label(axes.left - 36, TOP - 14, title, colours["text"], "start")]
    for value in axes.grid:
        _, y = axes.place(0, value)
        parts.append(f'<path d="M{axes.left} {y:.1f}H{right}" stroke="{colours["grid"]}"/>')
        parts.append(label(axes.left - 8, y + 4, f"{value:g}", colours["text"], "end"))
    step = max(1, math.ceil(axes.x_max / 6))
    for value in range(0, math.floor(axes.x_max) + 1, step):
        parts.append(
            label(axes.place(value, axes.grid[0])[0], bottom + 20, f"{value}", colours["text"], "middle")
        )
    parts.append(label(right, bottom + 40, epoch, colours["text"], "end"))
    return parts


def curves(axes: Axes, epochs: list[dict], metric: str, factor: float, colours: dict[str, str]) -> list[str]:
    """Draw a metric of training and held-out images; dots tell the second apart without colour."""
    train, test = (curve(epochs, f"{part}_{metric}", factor) for part in ("train", "test"))
    dots = [dot(*axes.place(*point), colours["test"]) for point in test]
    return [
        line_of(axes, train, f'stroke="{colours["train"]}"', 2),
        line_of(axes, test, f'stroke="{colours["test"]}"', 2),
        *dots,
    ]


def line_of(axes: Axes, points: Points, stroke: str, width: float) -> str:
    """Draw points as one line."""
    places = [f"{x:.1f} {y:.1f}" for x, y in (axes.place(*point) for point in points)]
    return f'<path d="M{"L".join(places)}" {stroke} stroke-width="{width}" stroke-linejoin="round"/>'


def legend(words: dict[str, str], colours: dict[str, str]) -> list[str]:
    """Draw what each line is, above the plots."""
    parts = []
    entries = [
        ("train", "train", 2, ""),
        ("test", "test", 2, ""),
        ("step", "train", 1, ' stroke-opacity=".5"'),
    ]
    for number, (name, colour, width, extra) in enumerate(entries):
        x = LEFT - 36 + number * 130
        stroke = f'stroke="{colours[colour]}" stroke-width="{width}"{extra}'
        parts.append(f'<path d="M{x} 12h24" {stroke}/>')
        parts += [dot(x + 12, 12, colours[colour])] if name == "test" else []
        parts.append(label(x + 32, 16, words[name], colours["text"], "start"))
    return parts


def dot(x: float, y: float, colour: str) -> str:
    """Draw one measured point."""
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>'


def label(x: float, y: float, text: str, colour: str, anchor: str) -> str:
    """Write a text."""
    return f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour}" text-anchor="{anchor}">{text}</text>'


def pictures(metrics: Path, name: str) -> dict[str, str]:
    """Return all four pictures of a run by file name: `name-light.en.svg` and so on."""
    return {
        f"{name}-{scheme}.{language}.svg": draw(metrics, language, scheme)
        for scheme in COLOURS
        for language in WORDS
    }
