"""An indicator: a reading, which is the network's input, and a call, which forecasts the direction."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy

from examples.indicator_transformer.history import History


# --8<-- [start:indicator]
@dataclass(frozen=True)
class Indicator:
    """A technical indicator: name and family, reading, and call."""

    name: str
    family: str
    read: Callable[[History], numpy.ndarray]  # scale-free, of order one, (bars,); NaN before enough bars
    call: Callable[[numpy.ndarray], numpy.ndarray]  # readings -> -1 (falls) to 1 (rises)


# Technical analysis uses the distance from a mean in two opposite ways, so each indicator names its own.
def with_the_move(reading: numpy.ndarray) -> numpy.ndarray:
    """Call a continuing move: the convention of averages, MACD, break-outs in ATRs, OBV and VWAP itself.

    They smooth away fast changes and take the rest for a trend. A reading of 1 is a move that is frequent in
    a random walk, and calls 0.76.
    """
    return numpy.tanh(reading)


def back_to_the_middle(reading: numpy.ndarray, lower: float, upper: float, beyond: float) -> numpy.ndarray:
    """Call a return from an extreme: the convention of RSI, bands, support and resistance.

    Inside the limits the call is 0; outside it points back, with 0.76 at a distance of `beyond`.
    """
    outside = numpy.maximum(lower - reading, 0) - numpy.maximum(reading - upper, 0)
    return numpy.tanh(outside / beyond)


# --8<-- [end:indicator]
