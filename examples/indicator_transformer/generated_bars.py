"""Generated price bars whose best possible forecast is known in closed form.

A block is an hour of minute bars. In block k the log-price drifts up or down, d_k = ±1, and the level of
the volume announces the next block: after high volume the drift continues, d_{k+1} = d_k; after low volume it
turns, d_{k+1} = -d_k. Both levels are drawn at random. So prices alone say nothing about the next hour, and
prices and volume together give its direction: trend-following indicators are right after high volume,
contrarian ones after low volume. The rest is noise: `STRENGTH` is the drift over `HORIZON` bars in standard
deviations of that noise, and Φ(STRENGTH) is the best accuracy at the end of an hour.
"""

from dataclasses import dataclass

import numpy
import pandas
import torch

from examples.indicator_transformer.bars import Bars
from snippets.errors import UsageError

BLOCK = 60  # bars with one direction and one level of volume
HORIZON = 20  # bars of the strength below
STRENGTH = 1.3  # Φ(1.3) = 90.3 %
NOISE = 5e-4  # standard deviation of a bar's log-return: 0.05 % per minute
DRIFT = STRENGTH * NOISE / HORIZON**0.5  # of the log-price, per bar
LOW, HIGH = 1000.0, 3000.0  # mean volume of a bar; volumes are within ± 50 %, so the levels never overlap


# --8<-- [start:market]
@dataclass(frozen=True)
class GeneratedMarket:
    """Generated bars and their hidden state."""

    bars: Bars
    direction: numpy.ndarray  # (blocks,) float64: +1 where prices drift up, -1 where they drift down
    continues: (
        numpy.ndarray
    )  # (blocks,) float64: +1 where the next block keeps the direction, -1 where it turns

    def chance_of_rise(self, horizon: int) -> numpy.ndarray:
        """Return, for each bar (count,), the probability that the price is higher `horizon` bars later.

        The log-return until then is normal: some of its bars are in this block and the others in the next
        one, whose direction is announced. The future noise is independent of the past, so no forecast is
        better. Raises UsageError for a horizon of more than a block, since the following is not announced.
        """
        if horizon > BLOCK:
            raise UsageError(
                f"--horizon {horizon}: generated bars know their future for {BLOCK} bars at most"
            )
        count = len(self.bars.table)
        block, place = numpy.divmod(numpy.arange(count), BLOCK)
        later = numpy.maximum(horizon - (BLOCK - 1 - place), 0)  # bars in the next block
        drift = DRIFT * self.direction[block] * (horizon - later + later * self.continues[block])
        return normal_distribution(drift / (NOISE * horizon**0.5))


# --8<-- [end:market]
def normal_distribution(x: numpy.ndarray) -> numpy.ndarray:
    """Return Φ(x), the standard normal distribution function."""
    return torch.special.ndtr(torch.from_numpy(x)).numpy()


# --8<-- [start:generate]
def generate_market(count: int, seed: int = 0) -> GeneratedMarket:
    """Return a market of `count` minute bars, rounded up to whole blocks; equal seeds give equal markets."""
    random = numpy.random.default_rng(seed)
    blocks = -(-count // BLOCK)
    count = blocks * BLOCK
    continues = random.choice([-1.0, 1.0], blocks)
    direction = numpy.cumprod(numpy.concatenate([[1.0], continues[:-1]]))
    returns = DRIFT * direction.repeat(BLOCK) + NOISE * random.standard_normal(count)
    close = 100 * numpy.exp(returns.cumsum())
    opening = numpy.concatenate([[100.0], close[:-1]])
    wicks = numpy.exp(0.3 * NOISE * numpy.abs(random.standard_normal((2, count))))
    level = numpy.where(continues > 0, HIGH, LOW).repeat(BLOCK)
    table = pandas.DataFrame(
        {
            "open": opening,
            "high": numpy.maximum(opening, close) * wicks[0],
            "low": numpy.minimum(opening, close) / wicks[1],
            "close": close,
            "volume": level * random.uniform(0.5, 1.5, count),
        },
        index=pandas.date_range("2025-01-01", periods=count, freq="min", name="timestamp"),
    )
    source = f"generated minute bars; volume announces the next {BLOCK} bars"
    bars = Bars("GENERATED", table, pandas.Timedelta(minutes=1), source)
    return GeneratedMarket(bars, direction, continues)


# --8<-- [end:generate]
