"""The charts of the pages, drawn with matplotlib as their specifications say."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import PercentFormatter

from tools.drawing.page import Part, picked
from tools.expressions import CLEARLY_LOWER
from tools.versions import number

CELLS = {"with the move": "#17607a", "back to the middle": "#8f430f"}
FULL = 0.8  # share from which a cell needs light letters
LIGHT = "#fafafa"


def entry(spec: Mapping[str, Any], panel: Mapping[str, Any], row: Any) -> Any:
    """Return where a row of bars is in the data: under that name, or in the entry with these values."""
    return {spec["row"]: row} | panel.get("where", {}) if "row" in spec else row


def bars(figure: Figure, part: Part) -> None:
    """Draw parts one below the other: a heading, and a bar with its value for each row; one row is ours."""
    spec, colours, height = part.spec, part.colours, 72 * figure.get_figheight()
    shown = [
        dict(panel.spec.get("others", {}))
        | {
            name: picked(part.data(), [entry(spec, panel.spec, row), panel.spec["value"]])
            * panel.spec["scale"]
            for row, name in spec["rows"].items()
        }
        for panel in part.panels()
    ]
    place = {"left": 0.42, "right": 0.98, "top": 1 - 30 / height, "bottom": 4 / height}
    place |= {"hspace": spec["space"]}
    heights = [len(values) for values in shown]
    below = figure.subplots(len(shown), 1, squeeze=False, height_ratios=heights, gridspec_kw=place)[:, 0]
    for axes, panel, values in zip(below, part.panels(), shown, strict=True):
        ours = spec["rows"][spec["ours"]]
        fills = [colours["blue" if name == ours else "orange"] for name in values]
        axes.barh(range(len(values)), list(values.values()), 0.6, color=fills)
        for row, value in enumerate(values.values()):
            text = f"{value:.0f}" if value >= 100 else f"{value:.1f}"
            axes.annotate(text, (value, row), (4, 0), textcoords="offset points", va="center")
        axes.set_yticks(range(len(values)), list(values))
        axes.set(xticks=[], xlim=(0, 1.3 * max(values.values())), ylim=(len(values) - 0.5, -0.5))
        axes.tick_params(length=0)
        axes.spines[["top", "right", "bottom"]].set_visible(False)
        figure.text(0.01, axes.get_position().y1 + 8 / height, panel.spec["title"])


def points(lines: Sequence[Mapping[str, Any]], metric: str) -> tuple[list[float], list[float]]:
    """Return the epochs at which a metric is known, and its values."""
    known = [line for line in lines if line.get(metric) is not None]
    return [line["epoch"] for line in known], [line[metric] for line in known]


def curves(figure: Figure, part: Part) -> None:
    """Draw panels one below the other: metrics by epoch, and limits that are known."""
    panels = part.panels()
    place = {"left": 0.21, "right": 0.97, "top": 0.985, "bottom": 0.105, "hspace": 0.3}
    for axes, panel in zip(figure.subplots(len(panels), 1, gridspec_kw=place), panels, strict=True):
        spec, colours, lines = panel.spec, part.colours, panel.data()
        if single := spec.get("single"):
            axes.plot(*points(lines, single), color=colours["blue"], alpha=0.5, label="training, one batch")
        for name, colour in (("training", "blue"), ("held out", "orange")):
            if name in spec:
                style = {"color": colours[colour], "marker": "o", "markersize": 3, "label": name}
                axes.plot(*points(lines, spec[name]), **style)
        for (name, place_of), dashes in zip(spec.get("limits", {}).items(), ("--", ":"), strict=False):
            limit = picked(part.data(), place_of)
            axes.axhline(limit, color=colours["grey"], linestyle=dashes, linewidth=1, label=name)
        axes.set(xlabel="epoch", ylabel=spec["title"])
        axes.set_xlim(left=0)
        if spec.get("logarithmic"):
            axes.set_yscale("log")
            axes.yaxis.set_major_formatter("{x:g}")
        if spec.get("percent"):
            axes.yaxis.set_major_formatter(PercentFormatter(1))
        axes.grid(alpha=0.25)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(loc="upper right" if single else "lower right")
    figure.align_ylabels()


def ratios(figure: Figure, part: Part) -> None:
    """Draw how many times as fast one of two was: a row for each column of the data, a dot for each machine.

    The data are milliseconds, first of what stands to the right of the middle.
    """
    spec, colours, table = part.spec, part.colours, part.data()
    axes = figure.add_axes((0.35, 0.03, 0.6, 0.76))
    for row, column in enumerate(map(table["columns"].index, spec["rows"])):
        for first, second in filter(None, (line[column] for line in table["rows"])):
            clear = min(first, second) < CLEARLY_LOWER * max(first, second)
            side = ("blue" if first < second else "orange") if clear else "grey"
            axes.scatter(second / first, row, 64, colours[side], alpha=0.7)
    axes.set(xscale="log", xlim=(1 / 4, 4), ylim=(len(spec["rows"]) - 0.5, -0.5))
    axes.set_xticks([1 / 4, 1 / 2, 1, 2, 4], ["4×", "2×", "equal", "2×", "4×"], minor=False)
    axes.set_xticks([], minor=True)
    axes.set_yticks(range(len(spec["rows"])), list(spec["rows"].values()))
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    axes.grid(axis="x", alpha=0.5)
    axes.axvline(1, color=colours["grey"], linewidth=1)
    axes.spines[:].set_visible(False)
    axes.text(0.88, -1.6, spec["left"], ha="right", color=colours["orange"])
    axes.text(1.14, -1.6, spec["right"], ha="left", color=colours["blue"])


def calibration(figure: Figure, part: Part) -> None:
    """Draw usefulness, its distance from the probability, and the counts, one below the other."""
    place = {"left": 0.22, "right": 0.97, "top": 0.985, "bottom": 0.08, "hspace": 0.13}
    heights = (4, 2, 1.4)
    above, middle, below = figure.subplots(3, 1, sharex=True, height_ratios=heights, gridspec_kw=place)
    bins, colours = part.data()["bins"], part.colours
    calibrated(above, part)
    above.set(ylim=(-0.02, 1.02), ylabel="mean usefulness")
    above.legend(loc="lower right")
    calibrated(middle, part, less=1)
    middle.set_ylabel("difference")
    for axes in (above, middle):
        axes.grid(alpha=0.25)
    lows, highs, counts = ([entry[name] for entry in bins] for name in ("low", "high", "count"))
    below.bar(lows, counts, numpy.subtract(highs, lows), align="edge", color=colours["pale"])
    below.set(yscale="log", ylim=(1, None), ylabel="count", xlabel="predicted probability of usefulness")
    below.yaxis.set_major_formatter("{x:g}")
    for axes in (above, middle, below):
        axes.spines[["top", "right"]].set_visible(False)
    figure.align_ylabels()


def calibrated(axes: Axes, part: Part, less: int = 0) -> None:
    """Draw observed usefulness by predicted probability p, less p if `less` is 1, and where it should be.

    A selection costs a little, so what the loss aims at lies above p: at p + sparsity · p · (1 − p).
    """
    data, colours, line = part.data(), part.colours, numpy.linspace(0, 1, 101)
    predicted, observed, errors = (
        numpy.array([entry[name] for entry in data["bins"]], float)  # None becomes NaN
        for name in ("predicted", "observed", "standard_error")
    )
    aim = line + data["sparsity"] * line * (1 - line)
    ends = numpy.array([0, 1])
    dotted = {"color": colours["grey"], "linestyle": ":", "linewidth": 1, "label": "as often as predicted"}
    axes.plot(ends, (1 - less) * ends, **dotted)
    axes.plot(line, aim - less * line, color=colours["blue"], linewidth=1.2, label="what the loss aims at")
    dots = {"marker": "o", "markersize": 4, "linestyle": "none", "capsize": 2, "color": colours["orange"]}
    axes.errorbar(predicted, observed - less * predicted, errors, **dots, label="held out, ± standard error")
    axes.set_xlim(0, 1)


def small_calibration(axes: Axes, part: Part) -> None:
    """Draw the calibration as a panel."""
    calibrated(axes, part)
    axes.set(xlabel="predicted", ylabel="useful", ylim=(-0.02, 1.02), xticks=(0, 0.5, 1), yticks=(0, 0.5, 1))
    axes.xaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_major_formatter("{x:g}")


def shares(figure: Figure, part: Part) -> None:
    """Draw how often each row is selected in each of four columns: fuller colour, more often."""
    axes, colours = figure.add_axes((0.4, 0.01, 0.53, 0.91)), part.colours
    rows, regimes = part.data()["indicators"], part.data()["regimes"]
    found = numpy.array([row["selected"] for row in rows], float)
    cells = numpy.array([[to_rgba(CELLS[row["calls"]])] * len(regimes) for row in rows])
    cells[:, :, 3] = found
    axes.pcolormesh(*(numpy.arange(count + 1) - 0.5 for count in found.T.shape), cells)
    axes.set_facecolor(colours["cell"])
    for (row, column), share in numpy.ndenumerate(found):
        ink = LIGHT if share > FULL else colours["on_cell"]
        axes.text(column, row, f"{share:.0%}", ha="center", va="center", color=ink)
    for _, last, _ in groups(rows, "family"):
        axes.axhline(last + 0.5, color=colours["paper"], linewidth=1.2)
    for middle, last, calls in groups(rows, "calls"):
        axes.axhline(last + 0.5, color=colours["paper"], linewidth=5)
        style = {"rotation": 270, "rotation_mode": "anchor", "ha": "center", "va": "bottom"}
        axes.text(len(regimes) - 0.4, middle, f"call {calls}", **style)
    for column, regime in enumerate(regimes):
        volume, kind = regime["name"].split(", ")
        axes.text(column, -0.7, kind, ha="center")
        if column % 2 == 0:
            axes.text(column + 0.5, -1.6, volume, ha="center")
    axes.set(xticks=[], ylim=(len(rows) - 0.5, -0.5))
    axes.set_yticks(range(len(rows)), [row["name"] for row in rows])
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)


def groups(rows: Sequence[Mapping[str, Any]], field: str) -> Iterator[tuple[float, int, str]]:
    """Yield middle and last line of neighbouring rows with the same value in a field, and that value."""
    first = 0
    for value, group in groupby(rows, key=itemgetter(field)):
        last = first + len(list(group)) - 1
        yield (first + last) / 2, last, value
        first = last + 1


def releases(figure: Figure, part: Part) -> None:
    """Draw which releases of PyTorch work on which macOS: a row for releases that need the same one.

    Releases from the recommended one on are in full colour.
    """
    colours, table = part.colours, part.data()
    known = table["releases"].items()
    lowest = {name: release.get("works_from", release["macos"]) for name, release in known}
    best = number(table["recommended_from"])
    rows = [
        (*group, list(names))
        for group, names in groupby(lowest, key=lambda name: (lowest[name], number(name) >= best))
    ]
    systems = [entry["at_least"] for entry in reversed(table["macos"])][1:]  # the oldest is too old for MPS
    axes = figure.add_axes((0.27, 0.13, 0.71, 0.68))
    for row, (floor, recommended, _) in enumerate(rows):
        for column, system in enumerate(systems):
            works = number(system) >= number(floor)
            fill = colours["blue" if recommended else "box"] if works else "none"
            cell = Rectangle((column - 0.46, row - 0.4), 0.92, 0.8, facecolor=fill, edgecolor=colours["blue"])
            cell.set_linestyle("-" if works else ":")
            axes.add_patch(cell)
            ink = colours["paper" if works and recommended else "ink" if works else "grey"]
            answer = ("yes" if recommended else "yes *") if works else "no"
            axes.text(column, row, answer, ha="center", va="center", color=ink)
    axes.set(xlim=(-0.5, len(systems) - 0.5), ylim=(len(rows) - 0.5, -0.5))
    axes.set_xticks(range(len(systems)), [system.removesuffix(".0") for system in systems])
    axes.set_yticks(
        range(len(rows)), ["–".join(dict.fromkeys((names[-1], names[0]))) for _, _, names in rows]
    )
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    figure.text(0.27, 0.93, "macOS version")
    figure.text(0.01, 0.93, "PyTorch")
    figure.text(0.01, 0.03, part.spec["below"])


def growth(figure: Figure, part: Part) -> None:
    """Draw a line for each entry of the data, both axes logarithmic, with its name at its end."""
    spec, table = part.spec, part.data()
    axes = figure.add_axes((0.2, 0.14, 0.58, 0.74))
    for colour, (name, text) in zip(("blue", "orange", "grey"), spec["rows"].items(), strict=True):
        values = picked(table, [spec["in"], {spec["row"]: name}, spec["value"]])
        style = {"color": part.colours[colour], "marker": "o", "markersize": 4}
        axes.plot(table[spec["by"]], values, **style)
        beside = {"xytext": (8, spec["shift"].get(name, 0)), "textcoords": "offset points", "va": "center"}
        axes.annotate(text, (table[spec["by"]][-1], values[-1]), **beside, color=part.colours[colour])
    axes.set(xscale="log", yscale="log", ylim=spec["ylim"])
    axes.set_xticks(spec["xticks"], [f"{tick:g}" for tick in spec["xticks"]])
    axes.set_yticks(list(spec["yticks"]), list(spec["yticks"].values()))
    axes.minorticks_off()
    axes.grid(alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)
    figure.text(0.01, 0.94, spec["title"])
    figure.text(0.78, 0.01, spec["below"], ha="right")


def dots(axes: Axes, part: Part) -> None:
    """Draw a row for each name: a dot for each seed or one alone, a line at the mean and at the best.

    Without a mean, the axis is logarithmic and has names for its ticks, and a line stands at 1.
    """
    spec, colours, rows = part.spec, part.colours, part.spec["rows"]
    way = [spec["value"]] if isinstance(spec["value"], str) else spec["value"]
    for place, which in enumerate(rows.values()):
        found = picked(part.data(), [which, *way])
        values = found if isinstance(found, list) else [found]
        beside = [place - 0.35, place + 0.35]
        axes.plot(values, [place] * len(values), "o", color=colours["orange"], markersize=5, alpha=0.7)
        if spec.get("mean", True):
            axes.plot([statistics.fmean(values)] * 2, beside, color=colours["blue"], linewidth=2)
        else:
            axes.plot(values, [place] * len(values), color=colours["orange"], linewidth=2)
        if limit := spec.get("limit"):
            best = statistics.fmean(picked(part.data(), [which, limit]))
            axes.plot([best] * 2, beside, color=colours["grey"], linestyle="--", linewidth=1.5)
    if "limit" in spec:
        axes.text(best, -0.6, spec["limit_name"], ha="right")
    axes.set(xlim=spec["xlim"], ylim=(len(rows) - 0.5, -0.5))
    axes.set_yticks(range(len(rows)), list(rows))
    axes.tick_params(axis="y", length=0)
    if spec.get("mean", True):
        axes.set_xticks(spec["xticks"])
        axes.xaxis.set_major_formatter(PercentFormatter(1))
    else:
        axes.set_xscale("log")
        axes.set_xticks(list(spec["xticks"]), list(spec["xticks"].values()))
        axes.minorticks_off()
        axes.axvline(1, color=colours["grey"], linewidth=1)


def slopes(axes: Axes, part: Part) -> None:
    """Draw two values of each seed, joined by a line, and their means."""
    spec, colours = part.spec, part.colours
    sides = [picked(part.data(), [value]) for value in spec["sides"].values()]
    for pair in zip(*sides, strict=True):
        axes.plot(pair, color=colours["orange"], marker="o", markersize=5, linewidth=1, alpha=0.7)
    axes.plot([statistics.fmean(side) for side in sides], color=colours["blue"], linewidth=2.5)
    axes.set(xlim=(-0.25, 1.25), ylim=spec["ylim"], yticks=spec["yticks"])
    axes.set_xticks((0, 1), list(spec["sides"]))
    axes.yaxis.set_major_formatter(PercentFormatter(1))


KINDS: dict[str, Callable[[Figure, Part], None]] = {
    "bars": bars,
    "curves": curves,
    "ratios": ratios,
    "calibration": calibration,
    "shares": shares,
    "releases": releases,
    "growth": growth,
}
SMALL: dict[str, Callable[[Axes, Part], None]] = {
    "calibration": small_calibration,
    "dots": dots,
    "slopes": slopes,
}
