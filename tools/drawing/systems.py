"""Draw what the five systems reach: the picture of the README, a panel for each.

    python -m tools.drawing.systems

writes docs/assets/images/systems-*.svg from docs/data/results/. Dots and thin lines are single seeds.
"""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy
import yaml
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from examples.floorplan_diffusion.drawing import gallery
from examples.floorplan_diffusion.picture import Area, Picture, Shape, Strokes, svg_element
from examples.floorplan_diffusion.rooms import straightened
from examples.indicator_transformer import evaluation_plot
from examples.programs.report import HELD_OUT, LIMIT, TRAINING
from tools.drawing import evaluation, floorplan_gallery, page_pictures

RESULTS = page_pictures.ROOT / "docs/data/results"
WIDTH, HEIGHT, SHOWN = 660, 366, 880
PLANS, PLANS_AT, PLANS_WIDTH = 4, (252, 232), 402
TITLES = {  # of the panels: where each begins, from the left and from above
    "Digits recognised": (8, 16),
    "Indicators: calibration": (252, 16),
    "Passage in the top 5": (450, 16),
    "DNA motifs recognised": (8, 210),
    "Floor plans drawn, after a longer training": (252, 210),
}
OPTIMIZERS = {"SGD (the default)": "SGD"}  # shorter
GENOMIC = {"motif": "4,000 sequences", "few_pretrained": "400, pre-trained", "few": "400 sequences"}
CHINESE = {
    "Digits recognised": "手写数字：准确率",
    "Indicators: calibration": "技术指标：校准",
    "Passage in the top 5": "双塔检索：前 5 名命中率",
    "DNA motifs recognised": "DNA 基序：准确率",
    "Floor plans drawn, after a longer training": "户型图：训练更久的网络所画",
    "predicted": "预测",
    "useful": "实际",
    "untrained": "训练前",
    "trained": "训练后",
    "best possible": "最高可能",
    "4,000 sequences": "4,000 条序列",
    "400, pre-trained": "400 条，预训练",
    "400 sequences": "400 条序列",
}


def load(name: str) -> dict:
    """Return a file of results."""
    return yaml.safe_load((RESULTS / f"{name}.yaml").read_text(encoding="utf-8"))


def draw_dots(axes: Axes, rows: Mapping[str, Sequence[float]]) -> None:
    """Draw a row for each name: a dot for each seed, and a line at their mean."""
    for place, values in enumerate(rows.values()):
        axes.plot(values, [place] * len(values), "o", color=HELD_OUT, markersize=5, alpha=0.7)
        axes.plot([statistics.fmean(values)] * 2, [place - 0.35, place + 0.35], color=TRAINING, linewidth=2)
    axes.set_yticks(range(len(rows)), list(rows))
    axes.tick_params(axis="y", length=0)
    axes.xaxis.set_major_formatter(PercentFormatter(1))


def draw_digits(axes: Axes) -> None:
    """Draw the accuracy with each optimizer."""
    rows = {
        OPTIMIZERS.get(run["name"]["en"], run["name"]["en"]): run["test_accuracy"]
        for run in load("cifar_digits")["runs"]
        if not run.get("flip")
    }
    draw_dots(axes, rows)
    axes.set(xlim=(0.93, 1.003), xticks=(0.94, 0.97, 1), ylim=(len(rows) - 0.5, -0.5))


def draw_calibration(axes: Axes, figure: Figure) -> None:
    """Draw how useful indicators were against the prediction."""
    others = figure.add_axes((0, 0, 0.1, 0.1)), figure.add_axes((0.2, 0, 0.1, 0.1))
    stored = json.loads(evaluation.DATA.read_text(encoding="utf-8"))
    evaluation_plot.draw_calibration(axes, *others, stored["calibration"])
    for other in others:
        other.remove()
    axes.get_legend().remove()
    axes.set_title("", loc="left")
    axes.set(xlabel="predicted", ylabel="useful", xticks=(0, 0.5, 1), yticks=(0, 0.5, 1))
    axes.xaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_major_formatter("{x:g}")


def draw_recall(axes: Axes) -> None:
    """Draw recall before and after training: a line for each split, and one for the mean."""
    data = load("two_tower_pages")
    pairs = list(
        zip(data["runs"][0]["untrained"]["recall_5"], data["runs"][0]["best"]["recall_5"], strict=True)
    )
    for pair in pairs:
        axes.plot(pair, color=HELD_OUT, marker="o", markersize=5, linewidth=1, alpha=0.7)
    means = [statistics.fmean(side) for side in zip(*pairs, strict=True)]
    axes.plot(means, color=TRAINING, linewidth=2.5)
    axes.set(xlim=(-0.25, 1.25), ylim=(0.45, 0.85), yticks=(0.5, 0.6, 0.7, 0.8))
    axes.set_xticks((0, 1), ("untrained", "trained"))
    axes.yaxis.set_major_formatter(PercentFormatter(1))


def draw_motifs(axes: Axes) -> None:
    """Draw the accuracy on DNA, and what no network can surpass."""
    runs = {run["id"]: run for run in load("genomic_runs")["runs"]}
    draw_dots(axes, {name: runs[run]["test_accuracy"] for run, name in GENOMIC.items()})
    for place, run in enumerate(GENOMIC):
        best = statistics.fmean(runs[run]["best_possible_accuracy"])
        axes.plot([best] * 2, [place - 0.35, place + 0.35], color=LIMIT, linestyle="--", linewidth=1.5)
    axes.text(best, -0.6, "best possible", ha="right", color=LIMIT)
    axes.set(xlim=(0.83, 1), xticks=(0.85, 0.95), ylim=(len(GENOMIC) - 0.5, -0.5))


def draw(figure: Figure) -> None:
    """Draw the charts, and the titles of all panels."""

    def panel(left: float, top: float, width: float, height: float) -> Axes:
        return figure.add_axes((left / WIDTH, 1 - (top + height) / HEIGHT, width / WIDTH, height / HEIGHT))

    draw_digits(panel(66, 26, 142, 132))
    draw_calibration(panel(296, 26, 122, 120), figure)
    draw_recall(panel(496, 26, 150, 132))
    draw_motifs(panel(132, 240, 102, 98))
    for axes in figure.axes:
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(alpha=0.25)
    for title, (left, below) in TITLES.items():
        figure.text(left / WIDTH, 1 - below / HEIGHT, title, weight="bold")


def plans(language: str, dark: bool) -> Picture:
    """Return the first plans of the networks that trained longer."""
    stored = json.loads(floorplan_gallery.DATA.read_text(encoding="utf-8"))["plans"][:PLANS]
    drawn = [straightened(floorplan_gallery.read_plan(found)) for found in stored]
    words = floorplan_gallery.WORDS[language]
    return gallery(drawn, PLANS, width=PLANS_WIDTH, words=words, dark=dark)


def moved(shape: Shape) -> Shape:
    """Return a shape of the plans where they stand in the picture."""
    across, down = PLANS_AT
    if isinstance(shape, Area):
        return replace(shape, points=numpy.add(shape.points, PLANS_AT))
    if isinstance(shape, Strokes):
        return replace(shape, lines=numpy.add(shape.lines, PLANS_AT))
    return replace(shape, x=shape.x + across, y=shape.y + down)


def pictures() -> dict[str, str]:
    """Return all pictures by file name."""
    charts = page_pictures.pictures("systems", HEIGHT, draw, CHINESE, WIDTH, SHOWN)
    found = {}
    for name, text in charts.items():
        shapes = plans(name.split(".")[1], "dark" in name).shapes
        elements = "\n".join(svg_element(moved(shape)) for shape in shapes)
        group = f'<g font-family="{page_pictures.FAMILY}">\n{elements}\n</g>\n</svg>'
        found[name] = text.replace("</svg>", group)
    return found


if __name__ == "__main__":
    page_pictures.write_pictures(pictures())
    sys.exit(0)
