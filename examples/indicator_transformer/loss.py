"""The loss with three terms: usefulness of indicators, their weights, and sparsity."""

import torch
from torch.nn import functional as F

WEIGHTING = 0.5  # of the second term
SPARSITY = 0.1  # of the third term


# --8<-- [start:loss]
def selection_loss(
    logits: torch.Tensor, weights: torch.Tensor, usefulness: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the loss and its cross-entropy term; all arguments are (batch, indicators).

    `logits` are of "this indicator is useful now", with probability p; `weights` sum to 1 in each row. The
    cross-entropy takes logits because for probabilities it is inexact in 16 bits, and an error in CUDA's
    autocast.
    """
    probability = logits.sigmoid()
    cross_entropy = F.binary_cross_entropy_with_logits(logits, usefulness)
    wanted = F.normalize(usefulness * probability.detach(), p=1, dim=1)
    loss = cross_entropy + WEIGHTING * F.mse_loss(weights, wanted) + SPARSITY * probability.mean()
    return loss, cross_entropy


# --8<-- [end:loss]
# --8<-- [start:best_probability]
def best_probability(usefulness: torch.Tensor, sparsity: float = SPARSITY) -> torch.Tensor:
    """Return the p that minimises -u·log p - (1-u)·log(1-p) + sparsity·p, for a mean usefulness u.

    Its derivative is 0 where sparsity·p² - (1+sparsity)·p + u = 0; this is the root between 0 and u.
    """
    if sparsity == 0:
        return usefulness
    half = 1 + sparsity
    return (half - (half**2 - 4 * sparsity * usefulness).sqrt()) / (2 * sparsity)


# --8<-- [end:best_probability]
