"""Generated samples whose best possible loss is known in closed form: usefulness drawn by a table of chances.

The signs of two context features make one of four regimes. In regime r, indicator i is useful with the chance
q[i, r], independently of all others. Its reading is noise, and so are the other context features: whoever
does not look at the context can know no more of an indicator than its mean chance. There are no bars and no
prices; the rest of the training is the same.
"""

import torch

from examples.indicator_transformer.samples import Samples
from examples.indicator_transformer.usefulness import Optimum, binary_entropy

# --8<-- [start:table]
CHANCES = (0.1, 0.3, 0.7, 0.9)
REGIMES = 4
FEATURES = 10  # of the context, as with bars; the first two decide
CHANCES_SEED = 2  # the chances are the same whatever the seed of the rows


def draw_chances(indicators: int) -> torch.Tensor:
    """Return how likely each indicator is useful in each regime, float64 (indicators, REGIMES)."""
    generator = torch.Generator().manual_seed(CHANCES_SEED)
    drawn = torch.randint(len(CHANCES), (indicators, REGIMES), generator=generator)
    return torch.tensor(CHANCES, dtype=torch.float64)[drawn]


def regime(context: torch.Tensor) -> torch.Tensor:
    """Return the regime of each row (n,), 0 to 3, from its context (n, FEATURES)."""
    first, second = (context[:, :2] > 0).long().unbind(1)
    return 2 * first + second


def draw_samples(chances: torch.Tensor, rows: int, seed: int = 0) -> Samples:
    """Return `rows` independent samples, the same for the same seed.

    Rise and fall are equally likely, and an indicator that is useful calls which of the two comes. So labels,
    calls and direction go together as they do with bars; of the return, there is only the sign.
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
    """Return what forecasters reach: losses on average over all possible rows, accuracy on these `samples`.

    Who knows the table predicts q[i, r], and its entropy remains. Who knows no context predicts the mean over
    the regimes, which are equally likely. The direction follows from the calls, weighed by how much each one
    says: the logits of their chances add up to that of a rise.
    """
    evidence = samples.calls * chances.T[regime(samples.market_context)].logit()
    rise = evidence.sum(1).sigmoid()
    return Optimum(
        best_bce=binary_entropy(chances).mean().item(),
        blind_bce=binary_entropy(chances.mean(1)).mean().item(),
        best_accuracy=torch.maximum(rise, 1 - rise).mean().item(),
    )


# --8<-- [end:table]
