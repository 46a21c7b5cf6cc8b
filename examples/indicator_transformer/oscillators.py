"""Indicators that call a reversal at their limits: RSI, Bollinger bands, support and resistance."""

from functools import partial

import numpy
import talib

from examples.indicator_transformer.history import History, change, place_in_range, ratio
from examples.indicator_transformer.indicator import Indicator, back_to_the_middle

RSI_BARS = (7, 9, 14, 21, 28)
BOLLINGER_BARS = (10, 20, 50, 100, 200)
BOLLINGER_WIDTH = 2  # standard deviations
SUPPORT_BARS = 240


def rsi(history: History, bars: int) -> numpy.ndarray:
    """Return Wilder's relative strength index / 100 - 0.5: 0.5 for only rises, 0 for equal rises and falls.

    Without any move TA-Lib returns 0, as for only falls; here it counts as equal rises and falls.
    """
    still = talib.MAX(numpy.abs(change(history.close, 1)), bars) == 0
    return numpy.where(still, 0.0, talib.RSI(history.close, bars) / 100 - 0.5)


def bollinger(history: History, bars: int) -> numpy.ndarray:
    """Return the position of the close between the lower (-1) and the upper (1) Bollinger band."""
    upper, middle, _ = talib.BBANDS(history.close, bars, BOLLINGER_WIDTH, BOLLINGER_WIDTH)
    return ratio(history.close - middle, upper - middle)


RSI = tuple(
    Indicator(
        f"rsi_{bars}",
        "rsi",
        partial(rsi, bars=bars),
        partial(back_to_the_middle, lower=-0.2, upper=0.2, beyond=0.1),  # RSI 30 and 70
    )
    for bars in RSI_BARS
)
BOLLINGER = tuple(
    Indicator(
        f"bollinger_{bars}",
        "bollinger",
        partial(bollinger, bars=bars),
        partial(back_to_the_middle, lower=-1, upper=1, beyond=0.25),
    )
    for bars in BOLLINGER_BARS
)
SUPPORT_RESISTANCE = (
    Indicator(
        "support_resistance",
        "support_resistance",
        partial(place_in_range, bars=SUPPORT_BARS),
        partial(back_to_the_middle, lower=-0.8, upper=0.8, beyond=0.1),  # a tenth of the range from its ends
    ),
)
