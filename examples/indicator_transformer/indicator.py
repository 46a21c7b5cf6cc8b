"""What an indicator is here: a reading that the network sees, and the direction that it calls."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy

from examples.indicator_transformer.history import History


# --8<-- [start:indicator]
@dataclass(frozen=True)
class Indicator:
    """A technical indicator: its place in the set, how it is read, and what its reading forecasts."""

    name: str
    family: str
    read: Callable[[History], numpy.ndarray]  # scale-free, of order one, (bars,); NaN before enough bars
    call: Callable[[numpy.ndarray], numpy.ndarray]  # readings -> -1 (falls) to 1 (rises)


# Chart readers use the same distance from a mean in two opposite ways, so each indicator names its own.
def with_the_move(reading: numpy.ndarray) -> numpy.ndarray:
    """Call that the move goes on: the convention of averages, MACD, break-outs in ATRs, OBV and VWAP itself.

    They smooth away what turns quickly; what is left is taken for a trend. A reading of 1 is a move that
    chance makes often, and calls 0.76.
    """
    return numpy.tanh(reading)


def back_to_the_middle(reading: numpy.ndarray, lower: float, upper: float, beyond: float) -> numpy.ndarray:
    """Call that an extreme will not last: the convention of RSI, bands, support and resistance.

    They mark limits that prices are said to respect: inside the limits the call is 0; outside it points back,
    with 0.76 at a distance of `beyond`.
    """
    outside = numpy.maximum(lower - reading, 0) - numpy.maximum(reading - upper, 0)
    return numpy.tanh(outside / beyond)


# --8<-- [end:indicator]
