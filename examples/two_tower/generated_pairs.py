"""Generated pairs whose best scorer is known: the payload is the context, turned, and more noise."""

import torch
from torch.nn import functional as F

from examples.two_tower.pairs import Pairs


# --8<-- [start:generated]
def generate_pairs(rows: int, noise: float, seed: int, width: int = 32, per_article: int = 12) -> Pairs:
    """Return pairs with a known best scorer, drawn with `seed`.

    An article is a random direction; each of its rows is a vector near that direction, and the context is
    five noisy copies of the vector. The payload is the mean of the copies, rotated by one rotation for all
    rows, plus `noise`. The network has to learn the rotation, which gives the best possible retrieval.
    """
    generator = torch.Generator().manual_seed(seed)

    def normal(*shape: int) -> torch.Tensor:
        return torch.randn(shape, generator=generator) / width**0.5  # of length about 1

    articles = torch.arange(rows) // per_article
    centres = F.normalize(normal(int(articles[-1]) + 1, width), dim=1)
    own = centres[articles] + normal(rows, width)
    contexts = own.unsqueeze(1) + 0.5 * normal(rows, 5, width)
    rotation = torch.linalg.qr(normal(width, width)).Q
    best = F.normalize(contexts.mean(1), dim=1) @ rotation
    payloads = F.normalize(best + noise * normal(rows, width), dim=1)
    source = f"generated with noise {noise:g}; the payload is the context, turned, and more noise"
    return Pairs("generated", source, contexts, payloads, articles, best_queries=best)


# --8<-- [end:generated]
