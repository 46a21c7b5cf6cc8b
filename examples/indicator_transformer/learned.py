"""Whether a network learned anything from real bars, whose best possible forecast nobody knows.

Neighbouring samples share bars, and symbols move together. So samples of one stretch of time, as long as the
horizon and at least a day, count as one when the uncertainty is computed.
"""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy
import pandas
import torch
from torch.nn import functional as F

from examples.indicator_transformer.evaluation import forecast
from examples.indicator_transformer.samples import Samples
from examples.indicator_transformer.usefulness import expected_usefulness

FEWEST = 10  # stretches, below which the uncertainty itself is too uncertain
DAY = 86_400_000_000  # microseconds


@dataclass(frozen=True)
class Clock:
    """When the samples are, and what was common in training."""

    times: numpy.ndarray  # (samples,) int64, microseconds
    days: int  # of a stretch
    rises: bool = True  # whether most returns of the training samples were positive


@dataclass(frozen=True)
class Difference:
    """A mean difference between the network and a forecaster that learned nothing."""

    other: str  # the name of that forecaster
    mean: float  # above 0: the network is better
    standard_error: float | None  # None for fewer than FEWEST stretches
    stretches: int
    days: int  # of a stretch


def stretch_days(times: pandas.DatetimeIndex, horizon: int) -> int:
    """Return the days that `horizon` bars take, nearly always, and at least 1."""
    spans = times[horizon:] - times[:-horizon]
    return max(1, int(numpy.ceil(spans.to_series().quantile(0.9) / pandas.Timedelta(days=1))))


# --8<-- [start:difference]
def difference(other: str, better: torch.Tensor, clock: Clock) -> Difference:
    """Return the mean of `better` (samples,), and its standard error between stretches of time."""
    stretch = numpy.unique(clock.times // (clock.days * DAY), return_inverse=True)[1]
    count, values = int(stretch.max()) + 1, better.double().numpy()
    error = None
    if count >= FEWEST:
        sums = numpy.bincount(stretch, values - values.mean())
        error = float(numpy.sqrt((sums**2).sum() * count / (count - 1)) / len(values))
    return Difference(other, float(values.mean()), error, count, clock.days)


# --8<-- [end:difference]
def what_was_learned(
    logits: torch.Tensor, weights: torch.Tensor, samples: Samples, clock: Clock
) -> dict[str, dict[str, Any]]:
    """Return how much better the network is than the calls alone, and than always the same direction.

    `logits` and `weights` are (samples, indicators), on the CPU as `samples`.
    """
    useful, future_return = samples.indicator_usefulness, samples.future_return.squeeze(1)
    own = F.binary_cross_entropy_with_logits(logits, useful, reduction="none").mean(1)
    expected = expected_usefulness(samples.calls, torch.full_like(samples.future_return, 0.5))
    calls = F.binary_cross_entropy(expected, useful, reduction="none").mean(1)
    sign = 1 if clock.rises else -1
    right, always = forecast(logits, weights, samples.calls) * future_return, sign * future_return
    direction = (right.sign() - always.sign()) / 2
    name = "always up" if clock.rises else "always down"
    return {
        "bce": asdict(difference("the calls alone", calls - own, clock)),
        "direction": asdict(difference(name, direction, clock)),
    }


def sentences(learned: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Yield a plain sentence for each comparison."""
    for measure, form, words in (("bce", ".4f", "BCE"), ("direction", ".2%", "direction")):
        found = Difference(**learned[measure])
        mean = f"{found.mean:+{form}}"
        stretch = "a day" if found.days == 1 else f"{found.days} days"
        if found.standard_error is None:
            yield (
                f"{words}: too few samples to compare with {found.other}: {found.stretches} stretches of "
                f"{stretch} are held out, {FEWEST} are needed; difference {mean}"
            )
            continue
        far = abs(found.mean) > 2 * found.standard_error
        verdict = "better than" if far and found.mean > 0 else "worse than" if far else "no better than"
        yield (
            f"{words}: {verdict} {found.other}: difference {mean} ± {found.standard_error:{form}}, "
            f"one standard error between {found.stretches} stretches of {stretch}"
        )
