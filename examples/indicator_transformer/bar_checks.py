"""Checks of price bars. Each error names an offending row."""

import math
from collections.abc import Callable

import numpy
import pandas

from snippets.errors import UsageError

ROUNDING = 1e-9  # relative: prices adjusted for dividends differ in their last digits

Where = Callable[[int], str]  # from the position of a row, counted from 0, to its description


def check_bars(table: pandas.DataFrame, max_missing: float, at: Where) -> pandas.Timedelta:
    """Return the interval of at least two bars after all checks. Raises UsageError."""
    check_order(table.index, at)
    check_values(table, at)
    return check_spacing(table.index, max_missing, at)


def check_order(times: pandas.DatetimeIndex, at: Where) -> None:
    """Raise UsageError unless every bar is later than the one before it."""
    steps = numpy.diff(times.asi8)
    if (steps <= 0).any():
        position = int((steps <= 0).argmax()) + 1
        if steps[position - 1] < 0:
            raise UsageError(f"{at(position)} is earlier than the row before it; sort the rows by time")
        raise UsageError(f"{at(position)} has the time of the row before it; keep one of them")


# --8<-- [start:check_values]
def check_values(table: pandas.DataFrame, at: Where) -> None:
    """Raise UsageError unless all numbers are valid and each bar's range contains its open and close."""
    prices, ends = table[["open", "high", "low", "close"]], table[["open", "close"]]
    defects = {
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
            raise UsageError(f"{at(position)} has {defect}: {values}; correct or remove the row")


# --8<-- [end:check_values]
# --8<-- [start:check_spacing]
def check_spacing(times: pandas.DatetimeIndex, max_missing: float, at: Where) -> pandas.Timedelta:
    """Return the interval: the most common distance between two bars, of several the shortest.

    Raises UsageError when bars of one day are closer than that, or when more than a share `max_missing` of
    the bars is missing. Bars between two days, in UTC, are not missing, because markets close.
    """
    steps, days = numpy.diff(times.to_numpy()), times.normalize()
    distances, counts = numpy.unique(steps, return_counts=True)
    interval = pandas.Timedelta(distances[counts.argmax()])
    same_day = days[1:] == days[:-1]
    too_close = same_day & (steps < interval)
    if too_close.any():
        raise UsageError(
            f"{at(int(too_close.argmax()) + 1)} is closer to the bar before it than most bars are, "
            f"{in_words(interval)}; use bars of one interval"
        )
    missing = numpy.where(same_day, steps // interval - 1, 0)
    share = missing.sum() / (missing.sum() + len(times))
    if share > max_missing:
        raise UsageError(
            f"{at(int(missing.argmax()) + 1)} comes after the longest gap; {missing.sum()} bars are missing, "
            f"{share:.2%} of all; fill the gaps, or allow them with --max-missing "
            f"{math.ceil(share * 1000) / 1000:g}"
        )
    return interval


# --8<-- [end:check_spacing]
def in_words(distance: pandas.Timedelta) -> str:
    """Return a distance in its largest whole unit, like "5 minutes"."""
    for unit in ("days", "hours", "minutes", "seconds"):
        count, rest = divmod(distance, pandas.Timedelta(1, unit))
        if not rest:
            return f"{count} {unit if count != 1 else unit[:-1]}"
    return str(distance)
