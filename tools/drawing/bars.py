"""Bars one below the other, in several parts, each with its value at the end; one row is ours."""

from __future__ import annotations

from collections.abc import Mapping

from matplotlib.figure import Figure

from examples.programs.report import HELD_OUT, TRAINING


def draw_bars(figure: Figure, parts: Mapping[str, Mapping[str, float]], ours: str, space: float) -> None:
    """Draw the parts, by their headings, one below the other: a bar for each row, by its name.

    `space` between them is in average heights of a part. The row `ours` has a colour of its own.
    """
    height = 72 * figure.get_figheight()  # pixels
    place = {"left": 0.42, "right": 0.98, "top": 1 - 30 / height, "bottom": 4 / height, "hspace": space}
    heights = [len(values) for values in parts.values()]
    below = figure.subplots(len(parts), 1, squeeze=False, height_ratios=heights, gridspec_kw=place)[:, 0]
    for axes, (heading, values) in zip(below, parts.items(), strict=True):
        colours = [TRAINING if name == ours else HELD_OUT for name in values]
        axes.barh(range(len(values)), list(values.values()), 0.6, color=colours)
        for row, value in enumerate(values.values()):
            shown = f"{value:.0f}" if value >= 100 else f"{value:.1f}"
            axes.annotate(shown, (value, row), (4, 0), textcoords="offset points", va="center")
        axes.set_yticks(range(len(values)), list(values))
        axes.set(xticks=[], xlim=(0, 1.3 * max(values.values())), ylim=(len(values) - 0.5, -0.5))
        axes.tick_params(length=0)
        axes.spines[["top", "right", "bottom"]].set_visible(False)
        figure.text(0.01, axes.get_position().y1 + 8 / height, heading)
