"""Checks of price bars. Each error names an offending row."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy
import pandas

from examples.indicator_transformer.sessions import DAY, Sessions, find_sessions, missing_before
from snippets.errors import UsageError

ROUNDING = 1e-9  # relative: prices adjusted for dividends differ in their last digits

Where = Callable[[int], str]  # from the position of a row, counted from 0, to its description


def check_order(times: numpy.ndarray, at: Where) -> None:
    """Raise UsageError when a bar is earlier than the one before it; `times` is (bars,)."""
    earlier = times[1:] < times[:-1]
    if earlier.any():
        place = at(int(earlier.argmax()) + 1)
        raise UsageError(f"{place} is earlier than the row before it; sort the rows by time")


def check_duplicates(times: numpy.ndarray, values: numpy.ndarray, at: Where) -> numpy.ndarray | None:
    """Return the positions of rows that do not repeat the one before them; None if no row of (bars,) does.

    `times` (bars,) are ascending, `values` are (bars, 5). Raises UsageError when rows of one time have
    different numbers.
    """
    again = numpy.flatnonzero(times[1:] == times[:-1]) + 1
    if not len(again):
        return None
    different = (values[again] != values[again - 1]).any(1)
    if different.any():
        place = int(again[different.argmax()])
        raise UsageError(
            f"{at(place - 1)} and {at(place)} have the same time, {str(times[place])[:19]}, and different "
            "numbers; keep one of them"
        )
    return numpy.delete(numpy.arange(len(times)), again)


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


@dataclass(frozen=True)
class Spacing:
    """How the bars of a symbol follow each other."""

    interval: pandas.Timedelta  # the most common distance between two bars
    sessions: Sessions | None
    missing: int  # bars, within the sessions
    gap: str  # the row after the longest gap


def check_spacing(times: pandas.DatetimeIndex, local: pandas.DatetimeIndex, at: Where) -> Spacing:
    """Return the spacing of ascending times in UTC; `local` are the same by the clock of the file.

    The interval is the most common distance, of several the shortest. Raises UsageError when bars of one day
    are closer than that.
    """
    steps = numpy.diff(times.to_numpy())
    distances, counts = numpy.unique(steps, return_counts=True)
    interval = pandas.Timedelta(distances[counts.argmax()])
    clock = local.as_unit("us").asi8
    if (numpy.diff(clock) <= 0).any():  # the hour in which daylight saving ends
        clock = times.as_unit("us").asi8
    days = clock // DAY
    too_close = (steps < interval) & (days[1:] == days[:-1])
    if too_close.any():
        raise UsageError(
            f"{at(int(too_close.argmax()) + 1)} is closer to the bar before it than most bars are, "
            f"{in_words(interval)}; use bars of one interval"
        )
    step = interval.value // 1000
    sessions = find_sessions(clock, step) if step else None
    missing = missing_before(clock, step, sessions) if 0 < step < DAY else numpy.zeros(len(clock), int)
    return Spacing(interval, sessions, int(missing.sum()), at(int(missing.argmax())))


def in_words(distance: pandas.Timedelta) -> str:
    """Return a distance in its largest whole unit, like "5 minutes"."""
    for unit in ("days", "hours", "minutes", "seconds"):
        count, rest = divmod(distance, pandas.Timedelta(1, unit))
        if not rest:
            return f"{count} {unit if count != 1 else unit[:-1]}"
    return str(distance)
