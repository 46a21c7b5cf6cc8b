"""The numbers of an evaluation: losses, calibration, selection by market regime, direction."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

from examples.indicator_transformer.context_features import CONTEXT
from examples.indicator_transformer.evaluation import forecast, predictions, selected_weights
from examples.indicator_transformer.indicator import Indicator, with_the_move
from examples.indicator_transformer.learned import Clock, what_was_learned
from examples.indicator_transformer.loss import SPARSITY
from examples.indicator_transformer.samples import Samples
from examples.indicator_transformer.usefulness import Optimum, expected_usefulness

BINS = 10
REGIMES = ("low volume, calm", "low volume, volatile", "high volume, calm", "high volume, volatile")


@dataclass(frozen=True)
class Reference:
    """The reference values for a network, if known."""

    frequency: torch.Tensor | None = None  # (indicators,): mean usefulness in training
    optimum: Optimum | None = None
    clock: Clock | None = None  # of the samples


@dataclass(frozen=True)
class Bin:
    """Predictions of about the same probability."""

    low: float
    high: float
    count: int
    predicted: float  # mean probability
    observed: float  # mean usefulness
    standard_error: float | None  # of `observed`; None when all values are of one sample
    expected: float  # mean usefulness whose optimal probability, with the sparsity term, is `predicted`


def calibrate(probability: torch.Tensor, usefulness: torch.Tensor) -> list[Bin]:
    """Return the non-empty bins of BINS bins of equal width; both arguments are (samples, indicators).

    One return determines all labels of a sample, so the standard error counts a sample once, not once per
    indicator: its deviations are summed before they are squared.
    """
    probability, usefulness = probability.double(), usefulness.double()
    number = (probability * BINS).long().clamp(max=BINS - 1)
    bins = []
    for place in range(BINS):
        inside = number == place
        if count := int(inside.sum()):
            observed = usefulness[inside].mean()
            deviations = torch.where(inside, usefulness - observed, 0.0).sum(1)[inside.any(1)]
            bins.append(
                Bin(
                    low=place / BINS,
                    high=(place + 1) / BINS,
                    count=count,
                    predicted=probability[inside].mean().item(),
                    observed=observed.item(),
                    standard_error=standard_error(deviations, count),
                    expected=aimed_at(probability[inside]).mean().item(),
                )
            )
    return bins


def standard_error(deviations: torch.Tensor, count: int) -> float | None:
    """Return the standard error of a mean of `count` values, from the sums of deviations by sample, (n,).

    It is None for a single sample.
    """
    samples = len(deviations)
    if samples < 2:
        return None
    return (deviations.norm() / count * (samples / (samples - 1)) ** 0.5).item()


def aimed_at(probability: torch.Tensor, sparsity: float = SPARSITY) -> torch.Tensor:
    """Return the mean usefulness whose `best_probability` is `probability`.

    The sparsity term adds a cost to every selection, so the optimal probability is slightly too low.
    """
    return probability + sparsity * probability * (1 - probability)


def calibration_error(bins: Sequence[Bin], target: str = "predicted") -> float:
    """Return the mean distance of the observed usefulness from the target, weighted by count."""
    total = sum(part.count for part in bins)
    return sum(part.count * abs(part.observed - getattr(part, target)) for part in bins) / total


def regime(context: torch.Tensor) -> torch.Tensor:
    """Return the index in REGIMES of each sample, (n,), from its context (n, features).

    Both features compare the last hour with the last half-day of minute bars: above 0, the hour is higher.
    """
    volume, volatility = (
        context[:, CONTEXT.index(name)] > 0 for name in ("volume_profile", "volatility_regime")
    )
    return 2 * volume.long() + volatility.long()


def selected_by_regime(probability: torch.Tensor, regimes: torch.Tensor) -> torch.Tensor:
    """Return how often each indicator is selected in each regime, (indicators, 4); NaN without samples."""
    selected = (probability > 0.5).double()
    return torch.stack([selected[regimes == number].mean(0) for number in range(len(REGIMES))], 1)


def per_sample_loss(logits: torch.Tensor, usefulness: torch.Tensor) -> torch.Tensor:
    """Return the cross-entropy of each sample (n,), from (n, indicators)."""
    return F.binary_cross_entropy_with_logits(logits, usefulness, reduction="none").mean(1)


def losses(logits: torch.Tensor, samples: Samples, reference: Reference) -> dict[str, float | None]:
    """Return cross-entropies in nats, and the standard error of the network's; None for unknown values.

    Where the optimum is unknown, a network has to beat "calls": a forecaster that knows how strongly each
    indicator calls now, but not the future. Constant frequencies are a weaker reference.
    """
    usefulness = samples.indicator_usefulness
    own = per_sample_loss(logits, usefulness).double()
    constant = None
    if reference.frequency is not None:
        constant = per_sample_loss(reference.frequency.logit().expand_as(usefulness), usefulness)
        constant = constant.double().mean().item()
    known, calls = reference.optimum, None
    if known is None:
        expected = expected_usefulness(samples.calls, torch.full_like(samples.future_return, 0.5))
        calls = F.binary_cross_entropy(expected.double(), usefulness.double()).item()
    return {
        "frequency": constant,
        "blind": None if known is None else known.blind_bce,
        "calls": calls,
        "network": own.mean().item(),
        "network_standard_error": standard_error(own - own.mean(), len(own)),
        "best": None if known is None else known.best_bce,
    }


def direction(forecasts: torch.Tensor, future_return: torch.Tensor, known: Optimum | None) -> dict[str, Any]:
    """Return the share of forecasts (n,) with the sign of `future_return` (n,); no forecast counts as half.

    The standard error is that of the mean of these scores, 0, a half or 1.
    """
    scores, count = ((forecasts * future_return).sign().double() + 1) / 2, len(forecasts)
    return {
        "right": scores.mean().item(),
        "standard_error": (scores.var(correction=0).item() / count) ** 0.5,
        "samples": count,
        "without_forecast": (forecasts == 0).double().mean().item(),
        "best": None if known is None else known.best_accuracy,
    }


def concentration(logits: torch.Tensor, weights: torch.Tensor) -> dict[str, float | None]:
    """Return the mean number of selected indicators of (n, indicators), and the concentration of weights.

    `concentration` is the mean sum of squared weights: 1 when one indicator has all the weight; its inverse
    is the equivalent number of equally weighted ones. It is None when no indicator was ever selected.
    """
    squares = selected_weights(logits, weights).double().square().sum(1)
    squares = squares[squares > 0]
    return {
        "mean": (logits > 0).sum(1).double().mean().item(),
        "concentration": squares.mean().item() if len(squares) else None,
        "like_equal_weights_of": squares.reciprocal().mean().item() if len(squares) else None,
    }


def by_family(indicators: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the mean selection by family and type of call, from entries of `selection`."""
    groups: dict[tuple[str, str], list[list[float | None]]] = {}
    for entry in indicators:
        groups.setdefault((entry["calls"], entry["family"]), []).append(entry["selected"])
    return [
        {
            "name": f"{family} ({len(rows)})",
            "family": family,
            "calls": calls,
            "selected": [
                None if None in column else sum(column) / len(rows) for column in zip(*rows, strict=True)
            ],
        }
        for (calls, family), rows in groups.items()
    ]


def selection(indicators: Sequence[Indicator], shares: torch.Tensor) -> list[dict[str, Any]]:
    """Return an entry per indicator, trend-following ones first, grouped by family."""
    entries = [
        {
            "name": indicator.name,
            "family": indicator.family,
            "calls": "with the move" if indicator.call is with_the_move else "back to the middle",
            "selected": [None if share != share else share for share in row],  # JSON has no NaN
        }
        for indicator, row in zip(indicators, shares.tolist(), strict=True)
    ]
    return sorted(entries, key=lambda entry: entry["calls"], reverse=True)


def report(
    model: nn.Module, samples: Samples, indicators: Sequence[Indicator], reference: Reference
) -> dict[str, Any]:
    """Return the evaluation of `model` on `samples`, for JSON."""
    logits, weights = (torch.cat(parts).cpu() for parts in zip(*outputs(model, samples), strict=True))
    samples = samples.to(torch.device("cpu"))
    probability, useful = logits.sigmoid(), samples.indicator_usefulness
    bins, regimes = calibrate(probability, useful), regime(samples.market_context)
    entries = selection(indicators, selected_by_regime(probability, regimes))
    future_return = samples.future_return.squeeze(1)
    return {
        "samples": len(samples),
        "losses": losses(logits, samples, reference),
        "calibration": {
            "error": calibration_error(bins),
            "error_from_aim": calibration_error(bins, "expected"),
            "sparsity": SPARSITY,
            "bins": [asdict(part) for part in bins],
        },
        "regimes": [
            {"name": name, "samples": int((regimes == number).sum())} for number, name in enumerate(REGIMES)
        ],
        "indicators": entries,
        "families": by_family(entries),
        "learned": learned_by(logits, weights, samples, reference),
        "direction": direction(forecast(logits, weights, samples.calls), future_return, reference.optimum),
        "selected": concentration(logits, weights)
        | {"agreement": ((probability > 0.5) == (useful > 0.5)).double().mean().item()},
    }


def learned_by(
    logits: torch.Tensor, weights: torch.Tensor, samples: Samples, reference: Reference
) -> dict[str, Any] | None:
    """Return what was learned, where the optimum is unknown; None where it is known."""
    if reference.optimum is not None or reference.clock is None:
        return None
    return what_was_learned(logits, weights, samples, reference.clock, reference.frequency)


def outputs(model: nn.Module, samples: Samples) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Return logits and weights (part, indicators) of each part of the samples."""
    return [(logits, weights) for _, logits, weights in predictions(model, samples)]
