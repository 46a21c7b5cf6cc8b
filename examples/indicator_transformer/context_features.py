"""Ten features of the state of the market, shared by all indicators."""

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

SHORT, LONG = 60, WARM_UP  # bars: an hour and half a day of minutes, or three months and three years of days
ADX_BARS, TREND = 14, 25  # Wilder's average directional index, and its usual threshold of a trend
BREAKOUT_BARS = 100


# --8<-- [start:context]
def trend_strength(history: History) -> numpy.ndarray:
    """Average directional index, 0 to 100, scaled so that the usual threshold of a trend is 0."""
    return talib.ADX(history.high, history.low, history.close, ADX_BARS) / TREND - 1


def volatility_regime(history: History) -> numpy.ndarray:
    """Logarithm of short / long volatility."""
    return numpy.log(history.volatility_over(SHORT) / history.volatility_over(LONG))


def volume_profile(history: History) -> numpy.ndarray:
    """Logarithm of short / long mean volume. At the end of an hour, the short mean covers that hour."""
    short, long = (window_sum(history.volume, bars) / bars for bars in (SHORT, LONG))
    relative = numpy.where(long == 0, 1.0, ratio(short, long))
    return numpy.log(numpy.maximum(relative, numpy.exp(-LIMIT)))  # the logarithm of no volume is infinite


def breadth(history: History) -> numpy.ndarray:
    """Share of rising bars minus share of falling ones, × √bars, which is of order 1 for a random walk."""
    return talib.SUM(numpy.sign(history.returns), SHORT) / SHORT**0.5


def momentum(history: History) -> numpy.ndarray:
    """Log-return in standard deviations of a random walk over that time."""
    return change(numpy.log(history.close), SHORT) / (history.volatility * SHORT**0.5)


def mean_reversion(history: History) -> numpy.ndarray:
    """Distance from the long mean in standard deviations."""
    upper, middle, _ = talib.BBANDS(history.close, LONG, 1, 1)
    return ratio(history.close - middle, upper - middle)


def breakout(history: History) -> numpy.ndarray:
    """Position in the range of the last bars, from -1, the lowest low, to 1, the highest high."""
    return place_in_range(history, BREAKOUT_BARS)


def time_of_day(history: History) -> numpy.ndarray:
    """Sine of the time of day in UTC: 0 at midnight, 1 at six."""
    return numpy.sin(2 * numpy.pi * (history.seconds % 86_400) / 86_400)


def weekday(history: History) -> numpy.ndarray:
    """Sine of the day of the week: 0 on Mondays."""
    return numpy.sin(2 * numpy.pi * history.index.day_of_week.to_numpy() / 7)


def efficiency(history: History) -> numpy.ndarray:
    """Kaufman's efficiency ratio: the net move / all moves, from 0 to 1 for a straight line."""
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

    `table` is as for `compute_indicators`. A row depends only on its bar and earlier ones; it is finite from
    row `history.WARM_UP` on.
    """
    history = History(table)
    features = numpy.empty((len(FEATURES), len(table)), numpy.float32)
    for row, feature in zip(features, FEATURES, strict=True):
        row[:] = numpy.clip(feature(history), -LIMIT, LIMIT)
    return features.T
