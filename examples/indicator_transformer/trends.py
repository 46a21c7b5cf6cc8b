"""Trend-following indicators: SMA, EMA, MACD, moves in average true ranges, volume (OBV)."""

from collections.abc import Callable
from functools import partial

import numpy
import talib

from examples.indicator_transformer.history import History, change, ratio, window_sum
from examples.indicator_transformer.indicator import Indicator, with_the_move

SMA_BARS = (10, 20, 50, 200)
EMA_BARS = (5, 8, 9, 12, 21, 26, 50, 100, 200)
MACD_BARS = ((5, 13, 4), (8, 17, 9), (12, 26, 9), (19, 39, 9))  # fast, slow, signal
ATR_BARS = (7, 14, 21, 28, 50)
OBV_BARS = 60

LONG_ENOUGH = 2048  # bars until the response of the slowest filter has decayed

Filter = Callable[[numpy.ndarray], numpy.ndarray]  # prices (bars,) -> a price difference (bars,)


def above_sma(prices: numpy.ndarray, bars: int) -> numpy.ndarray:
    """Return prices minus their simple moving average."""
    return prices - talib.SMA(prices, bars)


def above_ema(prices: numpy.ndarray, bars: int) -> numpy.ndarray:
    """Return prices minus their exponential moving average with a smoothing of 2 / (bars + 1)."""
    return prices - talib.EMA(prices, bars)


def macd_histogram(prices: numpy.ndarray, fast: int, slow: int, signal: int) -> numpy.ndarray:
    """Return the MACD line, EMA(fast) - EMA(slow), minus its own EMA, the signal line."""
    return talib.MACD(prices, fast, slow, signal)[2]


def random_walk_spread(difference: Filter) -> float:
    """Return the standard deviation of the output of a linear filter for a random walk with steps of 1.

    A random walk is a sum of independent steps, so the variances of the responses add up.
    """
    step = numpy.repeat([0.0, 1.0], LONG_ENOUGH)
    return float(numpy.linalg.norm(difference(step)[LONG_ENOUGH:]))


def filter_reading(history: History, difference: Filter) -> numpy.ndarray:
    """Return the filter's output in standard deviations for a random walk with the present volatility."""
    by_chance = history.close * history.volatility * random_walk_spread(difference)
    return difference(history.close) / by_chance


def move_in_atrs(history: History, bars: int) -> numpy.ndarray:
    """Return the price's move over `bars` bars in average true ranges × √bars, as for a random walk."""
    atr = talib.ATR(history.high, history.low, history.close, bars)
    return ratio(change(history.close, bars), atr * bars**0.5)


def obv(history: History, bars: int) -> numpy.ndarray:
    """Return the change of on-balance volume over `bars` bars / all volume in them, × √bars.

    OBV adds the volume of bars that close higher and subtracts that of bars that close lower. For a random
    walk the ratio decreases like 1 / √bars.
    """
    share = ratio(change(talib.OBV(history.close, history.volume), bars), window_sum(history.volume, bars))
    return share * bars**0.5


def _indicator(name: str, family: str, difference: Filter) -> Indicator:
    return Indicator(name, family, partial(filter_reading, difference=difference), with_the_move)


SMA = tuple(_indicator(f"sma_{bars}", "sma", partial(above_sma, bars=bars)) for bars in SMA_BARS)
EMA = tuple(_indicator(f"ema_{bars}", "ema", partial(above_ema, bars=bars)) for bars in EMA_BARS)
MACD = tuple(
    _indicator(
        f"macd_{fast}_{slow}_{signal}", "macd", partial(macd_histogram, fast=fast, slow=slow, signal=signal)
    )
    for fast, slow, signal in MACD_BARS
)
ATR = tuple(
    Indicator(f"atr_{bars}", "atr", partial(move_in_atrs, bars=bars), with_the_move) for bars in ATR_BARS
)
OBV = (Indicator("obv", "obv", partial(obv, bars=OBV_BARS), with_the_move),)
