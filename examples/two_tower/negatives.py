"""Extra negatives of an epoch: payloads of the same article, and near misses with high scores.

Their vectors come from a payload cache, which the payload tower computes at the start of the epoch. They
have no gradient, and become outdated as the tower learns.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Self

import torch

from examples.two_tower.nearest import CHUNK, NONE, PIECE, Nearest, bar, numbered


@dataclass
class Negatives:
    """The extra negatives of every row: `rows` (N, k) are row numbers in `cache` (N, width), or NONE.

    The first `near` columns are near misses, the others are of the same article.
    """

    rows: torch.Tensor
    cache: torch.Tensor
    near: int

    def to(self, device: torch.device) -> Self:
        """Return the same on another device."""
        return replace(self, rows=self.rows.to(device), cache=self.cache.to(device))

    # --8<-- [start:extra]
    def of(self, rows: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return vectors (batch, k, width) of the negatives of `rows`, and which are missing (batch, k)."""
        ids = self.rows.index_select(0, rows)
        vectors = self.cache.index_select(0, ids.clamp(min=0).flatten())
        return vectors.view(*ids.shape, self.cache.shape[1]), ids == NONE

    # --8<-- [end:extra]


# --8<-- [start:own_article]
def own_article_negatives(
    articles: torch.Tensor, usable: torch.Tensor, count: int, generator: torch.Generator
) -> torch.Tensor:
    """Return for each row `count` other usable rows of its article, (N, count), padded with NONE.

    The rows of an article are shuffled into a ring, in which each row takes those that follow it.
    """
    chosen = torch.full((len(articles), count), NONE)
    rows = usable.nonzero().flatten()
    rows = rows[torch.randperm(len(rows), generator=generator)]
    rows = rows[articles[rows].argsort(stable=True)]
    _, group, sizes = articles[rows].unique_consecutive(return_inverse=True, return_counts=True)
    first, size = (sizes.cumsum(0) - sizes)[group], sizes[group]
    place = torch.arange(len(rows)) - first
    for column in range(count):
        partner = rows[first + (place + 1 + column) % size]
        chosen[rows, column] = partner.where(column < size - 1, NONE)
    return chosen


# --8<-- [end:own_article]
@dataclass
class Forbidden:
    """The payloads that are not near misses of a row: held out, of its article, or equal to its own."""

    articles: torch.Tensor  # (N,), like the others
    payload_ids: torch.Tensor
    held_out: torch.Tensor

    def to(self, device: torch.device) -> Self:
        """Return the same on another device."""
        return type(self)(self.articles.to(device), self.payload_ids.to(device), self.held_out.to(device))

    def __call__(self, own: torch.Tensor, among: slice = slice(None)) -> torch.Tensor:
        """Return bool (n, rows of `among`) for the rows `own` (n,)."""
        same_article = self.articles[own, None] == self.articles[among]
        same_payload = self.payload_ids[own, None] == self.payload_ids[among]
        return same_article | same_payload | self.held_out[among]


# --8<-- [start:near_misses]
@torch.no_grad()
def find_near_misses(
    queries: Iterable[torch.Tensor], rows: torch.Tensor, bank: torch.Tensor, forbidden: Forbidden, count: int
) -> torch.Tensor:
    """Return the wrong payloads with the highest scores for the queries of `rows` (n,), (n, count).

    `queries` yields the vectors (…, width) of some rows after another. The search through the whole bank (N,
    width) is exact. It returns row numbers of the bank, the highest score first, padded with NONE.
    """
    near = Nearest(len(rows), min(count, len(bank)), bank.device)
    with bar(len(rows) * len(bank), "near misses", " products") as done:
        for part, vectors in numbered(few for many in queries for few in many.split(CHUNK)):
            for place, piece in numbered(bank.split(PIECE)):
                scores = (vectors @ piece.T).masked_fill(forbidden(rows[part], place), -torch.inf)
                near.add(part, scores, place.start)
                done.update(scores.numel())
    return near.found()


# --8<-- [end:near_misses]
def drawn(candidates: torch.Tensor, count: int, generator: torch.Generator) -> torch.Tensor:
    """Return `count` random candidates of each row (N, k), padded with NONE."""
    chances = torch.rand(candidates.shape, generator=generator).where(candidates != NONE, -1.0)
    order = chances.argsort(dim=1, descending=True, stable=True)
    return candidates.gather(1, order)[:, :count]


def without_equal(chosen: torch.Tensor, payload_ids: torch.Tensor) -> torch.Tensor:
    """Return the chosen rows (N, k) with NONE instead of those whose payload equals the row's own."""
    return chosen.where(payload_ids[chosen.clamp(min=0)] != payload_ids[:, None], NONE)
