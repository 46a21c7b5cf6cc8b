"""Draw a benchmark: bars for its levels, or a line per level over batch sizes or numbers of workers."""

import itertools
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from examples.benchmarking.report import Row
from snippets.timing import spread

# the palette of Okabe and Ito, safe for colour blindness
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000")

MARK = "Benchmark of the MPS Handbook"  # stored in the file: only such pictures may be overwritten


def speeds(row: Row) -> tuple[float, float, float]:
    """Return samples per second at the median, the 90 % and the 10 % quantile of the time."""
    times, samples = spread(row.result["seconds"]), row.result["samples_per_step"]
    return samples / times.median, samples / times.high, samples / times.low


def draw_chart(rows: list[Row], image: Path, title: str) -> None:
    """Draw the measured rows into the file `image`; the chart names levels without a result."""
    measured = [row for row in rows if row.measured]
    figure = Figure(
        figsize=(9, 1.6 + 0.5 * max(4, len({row.job.level for row in rows}))), layout="constrained"
    )
    axes = figure.subplots()
    points = {row.point for row in rows}
    if len(points) == 1:
        draw_bars(axes, rows)
    else:
        draw_lines(axes, measured, by_workers=len({workers for _, workers in points}) > 1)
    axes.spines[["top", "right"]].set_visible(False)
    figure.suptitle(title, fontsize=11)
    figure.savefig(image, dpi=150, metadata={"Title": MARK})


def draw_bars(axes: Axes, rows: list[Row]) -> None:
    """Draw a bar for each row, with the range from the 10 % to the 90 % quantile."""
    for place, row in enumerate(rows):
        if not row.measured:
            axes.text(0, place, "  not available", va="center", color="#666666")
            continue
        speed, slow, fast = speeds(row)
        colour = "#999999" if row.loss_differs else COLOURS[0]
        axes.barh(place, speed, xerr=[[speed - slow], [fast - speed]], color=colour, capsize=3, height=0.6)
        note = f"  {row.speed_up:.2f}×" + (", loss differs" if row.loss_differs else "")
        axes.text(fast, place, note, va="center")
    axes.set_yticks(range(len(rows)), [row.job.level.name for row in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)  # the first level on top
    axes.set_xlabel("samples per second")
    axes.margins(x=0.15)
    axes.set_xlim(left=0)


def draw_lines(axes: Axes, rows: list[Row], *, by_workers: bool) -> None:
    """Draw a line for each level, with the range from the 10 % to the 90 % quantile at each point.

    When both batch sizes and workers were swept, each batch size of a level has a line of its own.
    """
    lines: dict[str, list[Row]] = {}
    for row in rows:
        batch = f", batch {row.job.batch_size}" if by_workers and row.job.batch_size else ""
        lines.setdefault(row.job.level.name + batch, []).append(row)
    for (name, own), colour in zip(lines.items(), itertools.cycle(COLOURS), strict=False):
        places = [row.job.workers if by_workers else row.job.batch_size for row in own]
        middle, slow, fast = zip(*map(speeds, own), strict=True)
        axes.fill_between(places, slow, fast, color=colour, alpha=0.2, linewidth=0)
        axes.plot(places, middle, color=colour, marker="o", markersize=4, label=name)
    if by_workers:
        axes.set_xlabel("worker processes")
    else:
        axes.set_xscale("log", base=2)
        axes.set_xlabel("batch size")
    swept = (row.job.workers if by_workers else row.job.batch_size for row in rows)
    ticks = sorted({place for place in swept if place is not None})
    axes.set_xticks(ticks, [str(tick) for tick in ticks])
    axes.minorticks_off()
    axes.set_ylabel("samples per second")
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.25)
    if rows:
        axes.legend(frameon=False)
