"""What makes rows of numbers proper price bars. Each check names the first row that is not one."""

import math
from collections.abc import Callable

import numpy
import pandas

from snippets.errors import UsageError

DAY = pandas.Timedelta(days=1)
# The Shenzhen exchange did not trade between 2024-02-08 and 2024-02-19, which are 11 days: a day, as after
# any other bar, and 10 more. www.szse.cn/English/services/trading/calendar
LONGEST_CLOSURE = pandas.Timedelta(days=10)
SHORTEST_BREAK = pandas.Timedelta(minutes=30)
# When daylight saving ends, an hour of local time comes twice.
OR_OFFSET = "or give times with their offset from UTC"
ROUNDING = 1e-9  # relative: prices that were corrected for dividends differ in their last digits

Where = Callable[[int], str]  # from the position of a row, counted from 0, to words for the user


def check_bars(table: pandas.DataFrame, max_missing: float, at: Where) -> pandas.Timedelta:
    """Return the interval of at least two bars. Raises UsageError as the checks below do."""
    check_order(table, at)
    check_values(table, at)
    interval = most_common_distance(table.index)
    check_spacing(table.index, interval, max_missing, at)
    return interval


# --8<-- [start:check_values]
def check_values(table: pandas.DataFrame, at: Where) -> None:
    """Raise UsageError unless all numbers are possible and each bar's range contains its open and close."""
    prices, ends = table[["open", "high", "low", "close"]], table[["open", "close"]]
    defects = {
        "an empty cell or NaN": table.isna(),
        "an infinite number": numpy.isinf(table),
        "a price that is not above zero": prices <= 0,
        "a negative volume": table[["volume"]] < 0,
        "a high below its open or close": ends.gt(table["high"] * (1 + ROUNDING), axis=0),
        "a low above its open or close": ends.lt(table["low"] * (1 - ROUNDING), axis=0),
    }
    for defect, cells in defects.items():
        rows = cells.to_numpy().any(axis=1)
        if rows.any():
            position = int(rows.argmax())
            values = ", ".join(f"{name} {value:.12g}" for name, value in table.iloc[position].items())
            others = f", and {rows.sum() - 1} more such rows" if rows.sum() > 1 else ""
            raise UsageError(f"{at(position)} has {defect}: {values}{others}; correct or remove the row")


# --8<-- [end:check_values]
def check_order(table: pandas.DataFrame, at: Where) -> None:
    """Raise UsageError unless every bar is later than the one before it."""
    steps = numpy.diff(table.index.asi8)
    if (steps > 0).all():
        return
    if (steps < 0).all() and len(steps) > 1:
        raise UsageError(f"{at(0)} is the latest bar and the last row the earliest; sort the rows by time")
    position = int((steps <= 0).argmax()) + 1
    if steps[position - 1] < 0:
        raise UsageError(
            f"{at(position)} is earlier than the row before it; sort the rows by time, {OR_OFFSET}"
        )
    same = table.iloc[position].equals(table.iloc[position - 1])
    values, advice = ("the same values", "") if same else ("other values", f", {OR_OFFSET}")
    raise UsageError(
        f"{at(position)} has the time of the row before it and {values}; remove one of them{advice}"
    )


def most_common_distance(times: pandas.DatetimeIndex) -> pandas.Timedelta:
    """Return the most common distance between two times of at least two; the shortest, if several are."""
    steps, counts = numpy.unique(numpy.diff(times.to_numpy()), return_counts=True)
    return pandas.Timedelta(steps[counts.argmax()])


# --8<-- [start:check_spacing]
def check_spacing(
    times: pandas.DatetimeIndex, interval: pandas.Timedelta, max_missing: float, at: Where
) -> None:
    """Raise UsageError when bars stand off the grid of their interval, or too many of them are missing.

    Bars of less than a day stand on a grid wherever no closing time lies between them. Bars of a day or more
    have no grid, because weekends and holidays are no gaps. For both, no bar for longer than any exchange
    closes is a gap. `max_missing` is a share of the bars that should be there.
    """
    steps = numpy.diff(times.to_numpy())
    long_gaps = steps > interval + LONGEST_CLOSURE
    if interval < DAY:
        trading = ~closing_times(times, interval)
        off_grid = trading & (steps % interval != pandas.Timedelta(0))
        gaps = long_gaps | trading & (steps > interval)
    else:
        off_grid, gaps = steps < interval / 2, long_gaps  # a month may have 28 days instead of 31
    if off_grid.any():
        position = int(off_grid.argmax()) + 1
        raise UsageError(
            f"{at(position)} is {in_words(steps[position - 1])} after the bar before it, but most bars "
            f"are {in_words(interval)} apart; use bars of one interval"
        )
    missing = int((steps[gaps] / interval - 1).round().sum())
    share = missing / (missing + len(times))
    if share > max_missing:
        position = int(gaps.argmax()) + 1
        enough = math.ceil(share * 1000) / 1000
        raise UsageError(
            f"{at(position)} is {in_words(steps[position - 1])} after the bar before it, the first gap; "
            f"{missing} bars are missing, {share:.2%} of all; fill the gaps, or allow them with "
            f"--max-missing {enough:g}"
        )


def closing_times(times: pandas.DatetimeIndex, interval: pandas.Timedelta) -> numpy.ndarray:
    """Return for each step to the next bar whether the market closes in between, bool (bars - 1,).

    Whatever lies between two days in UTC is closing time. Within a day there is some too: exchanges close for
    lunch or maintenance, and sessions cross midnight in UTC. What tells it from missing bars is that it
    repeats. So a gap of at least 30 minutes is closing time if gaps of exactly this length begin at this time
    of day on two days or more, and on at least a tenth of the days that have bars. A tenth is little because
    with daylight saving the session of Sydney, for one, crosses midnight only part of the year.
    """
    days, steps = times.normalize(), numpy.diff(times.to_numpy())
    same_day = days[1:] == days[:-1]
    long = same_day & (steps >= interval + SHORTEST_BREAK)
    breaks = pandas.DataFrame({"start": (times - days)[:-1][long], "length": steps[long]})
    repeats = breaks.groupby(["start", "length"])["length"].transform("size")
    closed = ~same_day
    closed[long] = repeats >= max(2, days.nunique() / 10)
    return closed


# --8<-- [end:check_spacing]
def in_words(distance: pandas.Timedelta | numpy.timedelta64) -> str:
    """Return a distance in its largest whole unit, like "5 minutes"."""
    distance = pandas.Timedelta(distance)
    for unit in ("days", "hours", "minutes", "seconds"):
        count, rest = divmod(distance, pandas.Timedelta(1, unit))
        if not rest:
            return f"{count} {unit if count != 1 else unit[:-1]}"
    return str(distance)
