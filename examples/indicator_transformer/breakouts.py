"""Indicators that measure a move by the usual range of bars (ATR) or by the volume behind it (OBV)."""

from functools import partial

import numpy
import talib

from examples.indicator_transformer.history import History, change, ratio, window_sum
from examples.indicator_transformer.indicator import Indicator, with_the_move

ATR_BARS = (7, 14, 21, 28, 50)
OBV_BARS = 60


def move_in_atrs(history: History, bars: int) -> numpy.ndarray:
    """Return the price's move over `bars` bars in average true ranges × √bars, as a random walk grows."""
    atr = talib.ATR(history.high, history.low, history.close, bars)
    return ratio(change(history.close, bars), atr * bars**0.5)


def obv(history: History, bars: int) -> numpy.ndarray:
    """Return the change of on-balance volume over `bars` bars / all volume in them, × √bars.

    OBV adds the volume of bars that close higher and subtracts that of bars that close lower. If they do so
    by chance, what is left of all volume shrinks like 1 / √bars.
    """
    share = ratio(change(talib.OBV(history.close, history.volume), bars), window_sum(history.volume, bars))
    return share * bars**0.5


ATR = tuple(
    Indicator(f"atr_{bars}", "atr", partial(move_in_atrs, bars=bars), with_the_move) for bars in ATR_BARS
)
OBV = (Indicator("obv", "obv", partial(obv, bars=OBV_BARS), with_the_move),)
