"""Volume-weighted average prices since an anchor, and bands around them."""

from functools import partial

import numpy
import pandas

from examples.indicator_transformer.anchors import CALENDAR, EVENTS, period_starts, record_starts
from examples.indicator_transformer.history import History, ratio
from examples.indicator_transformer.indicator import Indicator, back_to_the_middle, with_the_move

BANDS = (1, 2, 3)  # standard deviations above and below
ROUNDING = 1e-15  # a variance below this share of the mean square is rounding error


# --8<-- [start:vwap]
def vwap_since(
    starts: numpy.ndarray, price: numpy.ndarray, volume: numpy.ndarray
) -> tuple[numpy.ndarray, numpy.ndarray]:
    """Return the volume-weighted mean and standard deviation of prices since the last start, each (bars,).

    `starts` (bars,) is True where sums restart, as at the first bar. Without volume since then, the results
    are the price and 0. The variance is the mean square minus the squared mean, a difference that rounding
    would destroy for prices near 100,000 that move by cents. So each sum uses prices relative to its anchor.
    """
    group = numpy.cumsum(starts) - 1
    anchor_price = price[starts][group]
    moved = price - anchor_price
    terms = pandas.DataFrame({"volume": volume, "first": volume * moved, "second": volume * moved**2})
    sums = terms.groupby(group, sort=False).cumsum()
    total = sums["volume"].to_numpy()
    mean, mean_square = ratio(sums["first"].to_numpy(), total), ratio(sums["second"].to_numpy(), total)
    variance = mean_square - mean**2
    variance[variance < ROUNDING * mean_square] = 0
    return numpy.where(total > 0, anchor_price + mean, price), numpy.sqrt(variance)


def deviation(history: History, anchor: str) -> numpy.ndarray:
    """Return (close - VWAP since `anchor`) / standard deviation, and 0 where the deviation is 0, (bars,)."""
    starts = record_starts(history, anchor) if anchor in EVENTS else history.once(period_starts, anchor)
    mean, std = vwap_since(starts, history.typical, history.volume)
    return ratio(history.close - mean, std)


# --8<-- [end:vwap]
def above_band(history: History, anchor: str, band: int) -> numpy.ndarray:
    """Return the close above the band at `band` standard deviations, in these units, (bars,)."""
    distance = history.once(deviation, anchor)  # seven indicators use it
    return numpy.where(distance == 0, 0.0, distance - band)


def _with_bands(name: str, family: str, anchor: str) -> tuple[Indicator, ...]:
    middle = Indicator(name, family, partial(above_band, anchor=anchor, band=0), with_the_move)
    bands = []
    for size in BANDS:
        for sign, word in ((1, "plus"), (-1, "minus")):
            limits = {"lower": -numpy.inf, "upper": 0} if sign > 0 else {"lower": 0, "upper": numpy.inf}
            read = partial(above_band, anchor=anchor, band=sign * size)
            call = partial(back_to_the_middle, **limits, beyond=1)
            bands.append(Indicator(f"{name}_{word}_{size}", family, read, call))
    return (middle, *bands)


VWAP = _with_bands("vwap", "vwap", "day")
ANCHORED_VWAP = tuple(
    indicator
    for anchor in (*CALENDAR, *EVENTS)
    for indicator in _with_bands(f"avwap_{anchor}", "anchored_vwap", anchor)
)
