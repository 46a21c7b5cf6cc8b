"""Make the training set harder: wrong labels, fewer images. The held-out images stay as they are."""

import math
from fractions import Fraction

import torch


def exact_share(share: float, count: int) -> int:
    """Return ⌊share · count⌋ for the share as written: 29 for 0.29 of 100, where floats would give 28."""
    return math.floor(Fraction(str(share)) * count)


# --8<-- [start:label_noise]
def redraw_labels(
    labels: torch.Tensor, share: float, classes: int, generator: torch.Generator
) -> torch.Tensor:
    """Return a copy of `labels` (count,) in which exactly ⌊share · count⌋ are wrong.

    Which ones is random; each becomes one of the other classes, all equally likely.
    """
    chosen = torch.randperm(len(labels), generator=generator)[: exact_share(share, len(labels))]
    offsets = torch.randint(1, classes, (len(chosen),), generator=generator)  # never 0: never the same class
    noisy = labels.clone()
    noisy[chosen] = (labels[chosen] + offsets) % classes
    return noisy


def noise_floor(share: float, classes: int, smoothing: float = 0.0) -> tuple[float, float]:
    """Return the best accuracy and the least cross-entropy (nats) that noisy labels allow on average.

    The least cross-entropy is the entropy of a label given its image; `smoothing` is label smoothing.
    A training loss below it means that the network has memorised wrong labels.
    """
    own = (1 - smoothing) * (1 - share) + smoothing / classes
    other = (1 - own) / (classes - 1)
    entropy = -sum(p * math.log(p) for p in [own] + [other] * (classes - 1) if p > 0)
    return 1 - share, entropy


# --8<-- [end:label_noise]
def keep_fraction(labels: torch.Tensor, fraction: float, generator: torch.Generator) -> torch.Tensor:
    """Return the sorted indices of a random `fraction` of each class: rounded, at least one image."""
    kept = []
    for label in labels.unique():
        members = (labels == label).nonzero().flatten()
        count = max(1, round(fraction * len(members)))
        kept.append(members[torch.randperm(len(members), generator=generator)[:count]])
    return torch.cat(kept).sort().values
