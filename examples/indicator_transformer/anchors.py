"""The starts of anchored VWAPs: with a calendar period, or at an extreme of the day or week so far.

In the first period of a table they cannot start before its first bar.
"""

from collections.abc import Callable

import numpy
import pandas

from examples.indicator_transformer.history import History

SECONDS_PER_DAY = 86_400
FIRST_MONDAY = 4  # days from 1970-01-01, a Thursday


def _day(history: History) -> numpy.ndarray:
    return history.seconds // SECONDS_PER_DAY


Series = Callable[[History], numpy.ndarray]  # -> (bars,)

PERIODS: dict[str, Series] = {  # the number of the period of each bar, in UTC
    "hour": lambda history: history.seconds // 3600,
    "day": _day,
    "week": lambda history: (_day(history) - FIRST_MONDAY) // 7,
    "month": lambda history: history.index.year.to_numpy() * 12 + history.index.month.to_numpy(),
    "quarter": lambda history: history.index.year.to_numpy() * 4 + history.index.quarter.to_numpy(),
    "year": lambda history: history.index.year.to_numpy(),
}
CALENDAR = ("hour", "week", "month", "quarter", "year")  # the VWAP itself starts with the day
EVENTS: dict[str, tuple[str, Series]] = {  # the period, and the series whose maximum in it is the anchor
    "day_high": ("day", lambda history: history.high),
    "day_low": ("day", lambda history: -history.low),
    "day_volume": ("day", lambda history: history.volume),
    "week_high": ("week", lambda history: history.high),
    "week_low": ("week", lambda history: -history.low),
}


# --8<-- [start:anchors]
def period_starts(history: History, period: str) -> numpy.ndarray:
    """Return (bars,) of bool: True at the first bar of each `period`, and at the first bar of all.

    The first bar of all may be in the middle of a period.
    """
    number = PERIODS[period](history)
    return numpy.diff(number, prepend=number[:1] - 1) != 0


def record_starts(history: History, event: str) -> numpy.ndarray:
    """Return (bars,) of bool: True where a bar sets a new record of its day or week, as the first bar does.

    The last True up to a bar is the extreme of the period so far. The extreme of the whole day is known only
    at the end of the day, so a VWAP anchored there would look ahead.
    """
    period, series = EVENTS[event]
    starts = history.once(period_starts, period)
    record = pandas.Series(series(history)).groupby(numpy.cumsum(starts)).cummax().to_numpy()
    return starts | (numpy.diff(record, prepend=record[:1]) > 0)


# --8<-- [end:anchors]
