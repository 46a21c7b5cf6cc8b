"""Series that many indicators share, computed once per table of bars."""

from collections.abc import Callable, Hashable
from functools import cached_property
from typing import Any, TypeVar

import numpy
import pandas
import talib

# Bars after which every reading is finite: the longest window, half a day of minute bars. It may still be
# incomplete: a VWAP anchored at the start of the week lacks the bars of that week before the table.
WARM_UP = 720
LIMIT = 5.0  # readings are clipped here, so that one wrong price does not outweigh all other bars
VOLATILITY_BARS = 100
SMALLEST_VOLATILITY = 1e-9  # per bar: far below any market's tick, far above rounding errors

Result = TypeVar("Result")


class History:
    """The bars of one symbol as float64 arrays (bars,), ready for TA-Lib.

    Prices are relative to the first close, so that neither TA-Lib's thresholds nor rounding depend on the
    currency. `table` has an ascending DatetimeIndex in UTC and the columns open, high, low, close and volume.
    """

    def __init__(self, table: pandas.DataFrame) -> None:
        """Copy the columns of `table`, which is not changed."""
        close = table["close"].to_numpy(float)
        self.high, self.low, self.close = (
            table[name].to_numpy(float) / close[:1] for name in ("high", "low", "close")
        )
        self.volume = table["volume"].to_numpy(float)
        self.index: pandas.DatetimeIndex = table.index
        self._known: dict[Hashable, Any] = {}  # results of computations

    def once(self, compute: Callable[..., Result], *arguments: Hashable) -> Result:
        """Return `compute(self, *arguments)`, computed only once."""
        key = (compute, *arguments)
        if key not in self._known:
            self._known[key] = compute(self, *arguments)
        return self._known[key]

    @cached_property
    def seconds(self) -> numpy.ndarray:
        """The start of each bar, in whole seconds since 1970."""
        return self.index.as_unit("s").asi8

    @cached_property
    def typical(self) -> numpy.ndarray:
        """The mean of high, low and close, the usual price of a bar in a VWAP."""
        return (self.high + self.low + self.close) / 3

    @cached_property
    def returns(self) -> numpy.ndarray:
        """Log-returns from bar to bar; NaN at the first."""
        return change(numpy.log(self.close), 1)

    @cached_property
    def volatility(self) -> numpy.ndarray:
        """The typical size of a log-return per bar, over about `VOLATILITY_BARS` bars."""
        return self.volatility_over(VOLATILITY_BARS)

    def volatility_over(self, bars: int) -> numpy.ndarray:
        """Return the root of the exponential mean of squared log-returns.

        An exponential mean is a sum of positive terms. A sliding sum also subtracts, and would leave a
        rounding error instead of 0 in a window without moves, by which readings are divided.
        """
        return numpy.maximum(numpy.sqrt(talib.EMA(self.returns**2, bars)), SMALLEST_VOLATILITY)


def change(series: numpy.ndarray, bars: int) -> numpy.ndarray:
    """Return the change of `series` over `bars` bars, NaN for the first `bars`."""
    result = numpy.full_like(series, numpy.nan)
    result[bars:] = series[bars:] - series[:-bars]
    return result


def window_sum(amounts: numpy.ndarray, bars: int) -> numpy.ndarray:
    """Return sums of the last `bars` non-negative amounts, exactly 0 where all of them are 0."""
    return numpy.where(talib.MAX(amounts, bars) == 0, 0.0, talib.SUM(amounts, bars))


def ratio(numerator: numpy.ndarray, denominator: numpy.ndarray) -> numpy.ndarray:
    """Return the quotient, 0 where the denominator is 0, and NaN for NaN."""
    return numpy.divide(numerator, denominator, out=numpy.zeros_like(numerator), where=denominator != 0)


def place_in_range(history: History, bars: int) -> numpy.ndarray:
    """Return the place of the close between the lowest low (-1) and highest high (1) of the last bars."""
    low, high = talib.MIN(history.low, bars), talib.MAX(history.high, bars)
    return ratio(2 * history.close - low - high, high - low)
