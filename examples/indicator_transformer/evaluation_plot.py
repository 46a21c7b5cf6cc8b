"""Draw an evaluation: losses, direction, calibration, and selection by market regime."""

from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any, BinaryIO

import numpy
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from examples.indicator_transformer.evaluation_report import aimed_at
from examples.indicator_transformer.evaluation_table import LOSSES
from examples.programs.report import HELD_OUT, LIMIT, TRAINING

KNOWN = "#c4c4c4"  # bars of reference forecasters
COLOURS = {"with the move": "#17607a", "back to the middle": "#8f430f"}
NEVER = "#f2f2f2"  # a cell of 0 %
PAPER, INK, LIGHT = "#ffffff", "#1a1a1a", "#fafafa"
DARK = 0.8  # share from which a cell has light text
MOST = 40  # with more indicators, families are shown, to keep lines readable
ROW, CHART = 0.19, 4.6  # inches: height of a line of that chart, and least height of all lines


def draw_evaluation(evaluation: dict[str, Any], image: BinaryIO) -> None:
    """Write the picture as PNG to `image`; `evaluation` is the content of evaluation.json."""
    count = len(evaluation["indicators"])
    rows = evaluation["indicators" if count <= MOST else "families"]
    height = max(CHART, ROW * len(rows))
    figure = Figure(figsize=(9, 2.3 + height), layout="constrained")
    top, bottom = figure.subfigures(2, 1, height_ratios=(1.7, height), hspace=0.03)
    loss, direction = top.subplots(1, 2)
    draw_losses(loss, evaluation["losses"])
    draw_direction(direction, evaluation["direction"])
    left, right = bottom.subfigures(1, 2, width_ratios=(1, 1.15))
    scatter, deviation, counts = left.subplots(3, 1, sharex=True, height_ratios=(4, 1.6, 0.9))
    draw_calibration(scatter, deviation, counts, evaluation["calibration"])
    left.align_ylabels([scatter, deviation, counts])
    draw_selection(right.subplots(), rows, evaluation["regimes"])
    title = f"{count} indicators, {evaluation['samples']:,} samples ({evaluation['held_out']})"
    figure.suptitle(title, fontsize=11)
    figure.savefig(image, dpi=150, format="png")


def tidy(axes: Axes, title: str = "") -> None:
    """Set the title and small tick labels of a chart, and remove the frame without a scale."""
    axes.set_title(title, fontsize=10, loc="left")
    axes.xaxis.label.set_size(9)
    axes.yaxis.label.set_size(9)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=8)


def draw_bars(axes: Axes, values: dict[str, tuple[float, float | None, str]], own: str) -> None:
    """Draw named values with their standard errors and texts, from top to bottom."""
    for place, (name, (value, error, text)) in enumerate(values.items()):
        axes.barh(place, value, height=0.6, color=HELD_OUT if name == own else KNOWN)
        if error is not None:
            axes.errorbar(value, place, xerr=error, color="black", linewidth=1, capsize=2)
        at = (value + (error or 0), place)
        axes.annotate(text, at, (5, 0), textcoords="offset points", va="center", fontsize=8)
    axes.set_yticks(range(len(values)), list(values))
    axes.invert_yaxis()
    axes.spines["left"].set_visible(False)


def draw_losses(axes: Axes, losses: dict[str, float | None]) -> None:
    """Draw the known cross-entropies."""
    values = {
        words: (value, losses["network_standard_error"] if name == "network" else None)
        for name, words in LOSSES.items()
        if (value := losses.get(name)) is not None
    }
    texts = {name: (value, error, f"{value:.4f}") for name, (value, error) in values.items()}
    draw_bars(axes, texts, LOSSES["network"])
    axes.set_xlim(0, 1.2 * max(value + (error or 0) for value, error in values.values()))
    tidy(axes, "Cross-entropy of usefulness (nats)")
    axes.tick_params(axis="y", length=0)


def draw_direction(axes: Axes, direction: dict[str, Any]) -> None:
    """Draw the accuracy of forecasts between chance and the best possible one."""
    values = {"coin": (0.5, None), "this network": (direction["right"], direction["standard_error"])}
    if direction["best"] is not None:
        values["best possible"] = (direction["best"], None)
    draw_bars(axes, {name: (*pair, f"{pair[0]:.1%}") for name, pair in values.items()}, "this network")
    axes.set_xlim(0, 1.2)
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1])
    axes.xaxis.set_major_formatter(PercentFormatter(1))
    tidy(axes, "Direction right")
    axes.tick_params(axis="y", length=0)


def draw_calibration(scatter: Axes, deviation: Axes, counts: Axes, calibration: dict[str, Any]) -> None:
    """Draw observed usefulness, its distance from the prediction, and the counts, by probability.

    The solid line is the optimum of this loss, slightly above the diagonal.
    """
    bins = calibration["bins"]
    predicted, observed, errors = (
        numpy.array([part[name] for part in bins], float)  # None becomes NaN
        for name in ("predicted", "observed", "standard_error")
    )
    line = numpy.linspace(0, 1, 101)
    aim = aimed_at(line, calibration["sparsity"])
    style = {"color": HELD_OUT, "marker": "o", "markersize": 4, "linestyle": "none", "capsize": 2}
    scatter.plot([0, 1], [0, 1], color=LIMIT, linestyle=":", linewidth=1, label="as often as predicted")
    scatter.plot(line, aim, color=TRAINING, linewidth=1.2, label="what the loss aims at")
    scatter.errorbar(predicted, observed, errors, **style, label="held out, ± standard error")
    scatter.set(xlim=(0, 1), ylim=(-0.02, 1.02), ylabel="mean usefulness")
    scatter.legend(edgecolor="none", fontsize=8)
    tidy(scatter, f"Calibration: error {calibration['error']:.4f}")
    deviation.axhline(0, color=LIMIT, linestyle=":", linewidth=1)
    deviation.plot(line, aim - line, color=TRAINING, linewidth=1.2)
    deviation.errorbar(predicted, observed - predicted, errors, **style)
    deviation.set_ylabel("difference")
    tidy(deviation)
    edges = [part["high"] - part["low"] for part in bins]
    counts.bar(
        [part["low"] for part in bins], [part["count"] for part in bins], edges, align="edge", color=KNOWN
    )
    counts.set(yscale="log", ylim=(1, None), ylabel="count", xlabel="predicted probability of usefulness")
    counts.yaxis.set_major_formatter("{x:g}")
    tidy(counts)
    for axes in (scatter, deviation):
        axes.grid(alpha=0.25)


def draw_selection(axes: Axes, rows: list[dict[str, Any]], regimes: list[dict[str, Any]]) -> None:
    """Draw how often indicators, or families, are selected in each market regime, as a heat map."""
    shares = numpy.array([row["selected"] for row in rows], float)  # None becomes NaN
    cells = numpy.array([[to_rgba(COLOURS[row["calls"]])] * len(regimes) for row in rows])
    cells[:, :, 3] = shares
    cells[numpy.isnan(shares)] = to_rgba(PAPER)  # no such sample
    axes.pcolormesh(*(numpy.arange(count + 1) - 0.5 for count in shares.T.shape), cells)
    axes.set_facecolor(NEVER)
    names = [regime["name"].replace(", ", ",\n") + f"\nn = {regime['samples']:,}" for regime in regimes]
    axes.set_xticks(range(len(regimes)), names)
    axes.xaxis.tick_top()
    axes.set_yticks(range(len(rows)), [row["name"] for row in rows])
    write_shares(axes, shares)
    for _, last, _ in groups(rows, "family"):
        axes.axhline(last + 0.5, color=PAPER, linewidth=1.2)
    for middle, last, calls in groups(rows, "calls"):
        axes.axhline(last + 0.5, color=PAPER, linewidth=5)
        style = {"fontsize": 9, "rotation": 270, "rotation_mode": "anchor", "ha": "center", "va": "bottom"}
        axes.text(len(regimes) - 0.4, middle, f"call {calls}", **style)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    tidy(axes, "Selected, share of samples")
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)


def groups(rows: list[dict[str, Any]], field: str) -> Iterator[tuple[float, int, str]]:
    """Yield middle line, last line and value of each group of neighbours with equal values in a field."""
    first = 0
    for value, group in groupby(rows, key=itemgetter(field)):
        last = first + len(list(group)) - 1
        yield (first + last) / 2, last, value
        first = last + 1


def write_shares(axes: Axes, shares: numpy.ndarray) -> None:
    """Write the percentages into the cells, in a colour that contrasts."""
    for (row, column), share in numpy.ndenumerate(shares):
        text = "–" if numpy.isnan(share) else f"{share:.0%}"
        ink = LIGHT if share > DARK else INK
        axes.text(column, row, text, ha="center", va="center", fontsize=7, color=ink)
