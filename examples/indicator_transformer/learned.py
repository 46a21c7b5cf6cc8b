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

    mean: float  # above 0: the network is better
    standard_error: float | None  # None for fewer than FEWEST stretches
    stretches: int
    days: int  # of a stretch


def stretch_days(times: pandas.DatetimeIndex, horizon: int) -> int:
    """Return the days that `horizon` bars take, nearly always, and at least 1."""
    spans = times[horizon:] - times[:-horizon]
    return max(1, int(numpy.ceil(spans.to_series().quantile(0.9) / pandas.Timedelta(days=1))))


# --8<-- [start:difference]
def difference(better: torch.Tensor, clock: Clock) -> Difference:
    """Return the mean of `better` (samples,), and its standard error between stretches of time."""
    stretch = numpy.unique(clock.times // (clock.days * DAY), return_inverse=True)[1]
    count, values = int(stretch.max()) + 1, better.double().numpy()
    error = None
    if count >= FEWEST:
        sums = numpy.bincount(stretch, values - values.mean())
        error = float(numpy.sqrt((sums**2).sum() * count / (count - 1)) / len(values))
    return Difference(float(values.mean()), error, count, clock.days)


# --8<-- [end:difference]
def frequencies(learned: Samples) -> torch.Tensor:
    """Return the mean usefulness of each indicator (indicators,) in training, by Laplace's rule.

    One useful and one useless sample are added, so that no frequency is 0 or 1, for which a single surprise
    would have an infinite loss.
    """
    useful = learned.indicator_usefulness
    return (useful.sum(0) + 1) / (len(useful) + 2)


def what_was_learned(
    logits: torch.Tensor,
    weights: torch.Tensor,
    samples: Samples,
    clock: Clock,
    frequency: torch.Tensor | None,
) -> dict[str, dict[str, Any]]:
    """Return how much better the network is than forecasters that learned nothing, by measure and forecaster.

    `logits` and `weights` are (samples, indicators), on the CPU as `samples`; `frequency` (indicators,) is
    the mean usefulness in training, if known. Without any forecast, there is no direction to compare.
    """
    useful, future_return = samples.indicator_usefulness, samples.future_return.squeeze(1)
    own = F.binary_cross_entropy_with_logits(logits, useful, reduction="none").mean(1)
    expected = expected_usefulness(samples.calls, torch.full_like(samples.future_return, 0.5))
    others = {"the calls alone": expected}
    if frequency is not None:
        others["constant frequencies"] = frequency.expand_as(useful)
    found = {
        f"BCE, {name}": difference(
            F.binary_cross_entropy(guess, useful, reduction="none").mean(1) - own, clock
        )
        for name, guess in others.items()
    }
    forecasts, sign = forecast(logits, weights, samples.calls), 1 if clock.rises else -1
    if forecasts.any():
        better = ((forecasts * future_return).sign() - (sign * future_return).sign()) / 2
        found[f"direction, always {'up' if clock.rises else 'down'}"] = difference(better, clock)
    return {name: asdict(part) for name, part in found.items()}


def sentences(learned: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Yield a plain sentence for each comparison."""
    for name, values in learned.items():
        measure, _, other = name.partition(", ")
        found, form = Difference(**values), ".2%" if measure == "direction" else ".4f"
        mean = f"difference {found.mean:+{form}}"
        stretches = f"{found.stretches} stretches of {'a day' if found.days == 1 else f'{found.days} days'}"
        if found.standard_error is None:
            yield f"{measure}: no verdict against {other}: {stretches}, {FEWEST} are needed; {mean}"
            continue
        far = abs(found.mean) > 2 * found.standard_error
        verdict = "better than" if far and found.mean > 0 else "worse than" if far else "no better than"
        yield f"{measure}: {verdict} {other}: {mean} ± {found.standard_error:{form}}, by {stretches}"
