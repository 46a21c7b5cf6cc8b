"""The 111 indicators, a mixture of 24, and their readings and calls for a table of bars."""

from collections.abc import Sequence

import numpy
import pandas

from examples.indicator_transformer.anchored_vwap import ANCHORED_VWAP, VWAP
from examples.indicator_transformer.history import LIMIT, History
from examples.indicator_transformer.indicator import Indicator
from examples.indicator_transformer.oscillators import BOLLINGER, RSI, SUPPORT_RESISTANCE
from examples.indicator_transformer.trends import ATR, EMA, MACD, OBV, SMA

INDICATORS: tuple[Indicator, ...] = (
    *SMA, *EMA, *RSI, *MACD, *ATR, *BOLLINGER, *OBV, *VWAP, *ANCHORED_VWAP, *SUPPORT_RESISTANCE,
)  # fmt: skip

_SMALL_NAMES = {
    "sma_10", "sma_20", "sma_50", "sma_200", "ema_9", "ema_21", "ema_50", "ema_100", "rsi_7", "rsi_9",
    "rsi_14", "macd_12_26_9", "macd_19_39_9", "atr_14", "atr_50", "bollinger_20", "bollinger_50",
    "bollinger_100", "obv", "vwap", "vwap_plus_2", "vwap_minus_2", "avwap_week", "support_resistance",
}  # fmt: skip
SMALL: tuple[Indicator, ...] = tuple(indicator for indicator in INDICATORS if indicator.name in _SMALL_NAMES)


def compute_indicators(
    table: pandas.DataFrame, indicators: Sequence[Indicator] = INDICATORS
) -> tuple[numpy.ndarray, numpy.ndarray]:
    """Return the readings and the calls of `indicators`, both float32 (bars, indicators).

    `table` has an ascending DatetimeIndex in UTC and the columns open, high, low, close and volume. A row
    depends only on its bar and earlier ones, bit for bit. Readings are within ±`history.LIMIT`, calls within
    ±1; both are NaN where the window of an indicator is not full, and finite from row `history.WARM_UP` on.
    VWAPs have no window and are never NaN: if their period began before the first bar, they start with that
    bar, and would differ in a longer table. The work is proportional to the number of bars.
    """
    history = History(table)
    # One row per indicator, because they are written one after the other and rows are contiguous.
    values = numpy.empty((len(indicators), len(table)), numpy.float32)
    calls = numpy.empty_like(values)
    for value, call, indicator in zip(values, calls, indicators, strict=True):
        reading = numpy.clip(indicator.read(history), -LIMIT, LIMIT)
        value[:], call[:] = reading, indicator.call(reading)
    return values.T, calls.T
