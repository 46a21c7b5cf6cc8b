"""Generated samples with a known lowest loss: usefulness is drawn from a table of probabilities.

The signs of two context features give one of four regimes. In regime r, indicator i is useful with
probability q[i, r], independently of all others. The readings and the other context features are noise, so
without the context only the mean probability of an indicator can be known. There are no bars and no prices;
the rest of the training is the same.
"""

import torch

from examples.indicator_transformer.samples import Samples
from examples.indicator_transformer.usefulness import Optimum, binary_entropy

CHANCES = (0.1, 0.3, 0.7, 0.9)
REGIMES = 4
FEATURES = 10  # of the context, as with bars; the first two decide
CHANCES_SEED = 2  # the probabilities do not depend on the seed of the rows


def draw_chances(indicators: int) -> torch.Tensor:
    """Return the probability that each indicator is useful in each regime, float64 (indicators, REGIMES)."""
    generator = torch.Generator().manual_seed(CHANCES_SEED)
    drawn = torch.randint(len(CHANCES), (indicators, REGIMES), generator=generator)
    return torch.tensor(CHANCES, dtype=torch.float64)[drawn]


def regime(context: torch.Tensor) -> torch.Tensor:
    """Return the regime of each row (n,), 0 to 3, from its context (n, FEATURES)."""
    first, second = (context[:, :2] > 0).long().unbind(1)
    return 2 * first + second


def draw_samples(chances: torch.Tensor, rows: int, seed: int = 0) -> Samples:
    """Return `rows` independent samples, equal for equal seeds.

    Rise and fall are equally likely, and a useful indicator calls the right one. So labels, calls and
    direction are related as with bars; the return has only a sign.
    """
    generator = torch.Generator().manual_seed(seed)
    context = torch.randn(rows, FEATURES, generator=generator)
    values = torch.randn(rows, len(chances), generator=generator)
    drawn = torch.rand(rows, len(chances), generator=generator)
    useful = (drawn < chances.T[regime(context)]).float()
    direction = 2.0 * torch.randint(2, (rows, 1), generator=generator) - 1
    calls = direction * (2 * useful - 1)
    return Samples(values, context, useful, direction, calls, torch.arange(rows))


def table_optimum(chances: torch.Tensor, samples: Samples) -> Optimum:
    """Return the optimum: losses in expectation over all rows, accuracy on these `samples`.

    Knowing the table, the best prediction is q[i, r], whose loss is its entropy. Without context it is the
    mean over the regimes, which are equally likely. The direction follows from the calls: the logits of their
    probabilities add up to the logit of a rise.
    """
    evidence = samples.calls * chances.T[regime(samples.market_context)].logit()
    rise = evidence.sum(1).sigmoid()
    return Optimum(
        best_bce=binary_entropy(chances).mean().item(),
        blind_bce=binary_entropy(chances.mean(1)).mean().item(),
        best_accuracy=torch.maximum(rise, 1 - rise).mean().item(),
    )
