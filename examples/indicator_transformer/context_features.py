"""Ten numbers about the state of the market, the same for all indicators."""

from collections.abc import Callable

import numpy
import pandas
import talib

from examples.indicator_transformer.history import (
    LIMIT,
    WARM_UP,
    History,
    change,
    place_in_range,
    ratio,
    window_sum,
)

SHORT, LONG = 60, WARM_UP  # bars: of minutes an hour and half a day, of days three months and three years
ADX_BARS, TREND = 14, 25  # Wilder's average directional index, and where it is said to show a trend
BREAKOUT_BARS = 100


# --8<-- [start:context]
def trend_strength(history: History) -> numpy.ndarray:
    """Average directional index, 0 to 100, on a scale on which 0 is the usual threshold of a trend."""
    return talib.ADX(history.high, history.low, history.close, ADX_BARS) / TREND - 1


def volatility_regime(history: History) -> numpy.ndarray:
    """Logarithm of short / long volatility."""
    return numpy.log(history.volatility_over(SHORT) / history.volatility_over(LONG))


def volume_profile(history: History) -> numpy.ndarray:
    """Logarithm of short / long mean volume. At the end of an hour it is all about that hour."""
    short, long = (window_sum(history.volume, bars) / bars for bars in (SHORT, LONG))
    relative = numpy.where(long == 0, 1.0, ratio(short, long))
    return numpy.log(numpy.maximum(relative, numpy.exp(-LIMIT)))  # no volume has no logarithm


def breadth(history: History) -> numpy.ndarray:
    """Share of rising bars minus share of falling ones, × √bars: of order one by chance."""
    return talib.SUM(numpy.sign(history.returns), SHORT) / SHORT**0.5


def momentum(history: History) -> numpy.ndarray:
    """Log-return in units of what a random walk makes in that time."""
    return change(numpy.log(history.close), SHORT) / (history.volatility * SHORT**0.5)


def mean_reversion(history: History) -> numpy.ndarray:
    """Distance from the long mean in standard deviations."""
    upper, middle, _ = talib.BBANDS(history.close, LONG, 1, 1)
    return ratio(history.close - middle, upper - middle)


def breakout(history: History) -> numpy.ndarray:
    """Place in the range of the last bars, from -1, the lowest low, to 1, the highest high."""
    return place_in_range(history, BREAKOUT_BARS)


def time_of_day(history: History) -> numpy.ndarray:
    """Sine of the time of day in UTC: 0 at midnight, 1 at six."""
    return numpy.sin(2 * numpy.pi * (history.seconds % 86_400) / 86_400)


def weekday(history: History) -> numpy.ndarray:
    """Sine of the day of the week: 0 on Mondays."""
    return numpy.sin(2 * numpy.pi * history.index.day_of_week.to_numpy() / 7)


def efficiency(history: History) -> numpy.ndarray:
    """Kaufman's ratio: the net move / all moves, from 0 to 1, which is a straight line."""
    steps = numpy.abs(change(history.close, 1))
    return ratio(numpy.abs(change(history.close, SHORT)), window_sum(steps, SHORT))


FEATURES: tuple[Callable[[History], numpy.ndarray], ...] = (
    trend_strength, volatility_regime, volume_profile, breadth, momentum,
    mean_reversion, breakout, time_of_day, weekday, efficiency,
)  # fmt: skip
CONTEXT: tuple[str, ...] = tuple(feature.__name__ for feature in FEATURES)
# --8<-- [end:context]


def compute_context(table: pandas.DataFrame) -> numpy.ndarray:
    """Return the features named in `CONTEXT`, float32 (bars, 10), within ±`LIMIT`.

    `table` is as for `compute_indicators`. A row depends on its own bar and those before it alone; it is
    finite from row `history.WARM_UP` on.
    """
    history = History(table)
    features = numpy.empty((len(FEATURES), len(table)), numpy.float32)
    for row, feature in zip(features, FEATURES, strict=True):
        row[:] = numpy.clip(feature(history), -LIMIT, LIMIT)
    return features.T
