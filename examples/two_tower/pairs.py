"""Pairs of a context (a few vectors) and its payload (a vector), each with its article."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

import numpy
import torch
from torch.nn import functional as F
from torch.utils.data import Dataset

from examples.two_tower.encoders import Encoder
from examples.two_tower.nearest import PIECE
from examples.two_tower.texts import Text
from snippets.untrusted_checkpoints import tensors_crc32


@dataclass
class Pairs:
    """All pairs of a data set, with row numbers over training and held-out pairs.

    Rows with equal payloads have the same `payload_ids`, because both are right for either context.
    """

    name: str
    source: str  # a description
    contexts: torch.Tensor  # (rows, positions, width)
    payloads: torch.Tensor  # (rows, width)
    articles: torch.Tensor  # (rows,), int64
    texts: Sequence[Text] | None = None  # if they are known
    encoder: Encoder | None = None  # which made the vectors of these texts
    mapped: bool = False  # the columns are memory-mapped files
    best_queries: torch.Tensor | None = None  # (rows, width), of the best possible scorer if it is known
    payload_ids: torch.Tensor = field(init=False)  # (rows,), int64

    def __post_init__(self) -> None:
        digests = b"".join(
            blake2b(row, digest_size=16).digest()
            for part in self.payloads.split(4096)  # in parts, because a mapped file may exceed the memory
            for row in numpy.ascontiguousarray(part.numpy())
        )
        rows = numpy.frombuffer(digests, dtype=numpy.dtype((numpy.void, 16)))
        self.payload_ids = torch.from_numpy(numpy.unique(rows, return_inverse=True)[1])

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.articles)

    def fingerprint(self) -> int:
        """Return a CRC-32 of all content, with which a resumed run checks its pairs."""
        columns = self.contexts, self.payloads, self.articles
        # in parts, because a mapped file may exceed the memory
        return tensors_crc32(part for column in columns for part in column.split(4096))

    def plain_queries(self) -> torch.Tensor:
        """Return the last vector of each context, (rows, width), as queries without training."""
        return self.contexts[:, -1]


@dataclass
class PlainPayloads:
    """The payloads as unit vectors, in pieces on a device: the bank of queries without training."""

    payloads: torch.Tensor  # (rows, width)
    device: torch.device

    def __iter__(self) -> Iterator[torch.Tensor]:
        """Yield unit vectors (at most PIECE, width)."""
        for piece in self.payloads.split(PIECE):
            yield F.normalize(piece, dim=1).to(self.device)


class PairRows(Dataset):
    """Rows of `pairs` for a DataLoader: row number, context and payload."""

    def __init__(self, pairs: Pairs, rows: torch.Tensor) -> None:
        self.pairs, self.rows = pairs, rows

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.rows)

    def __getitem__(self, index: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return row number (), context (positions, width) and payload (width,)."""
        row = self.rows[index]
        return row, self.pairs.contexts[row], self.pairs.payloads[row]


def split_by_article(articles: torch.Tensor, share: float, seed: int) -> torch.Tensor:
    """Return which rows are held out, bool (rows,): whole articles, about `share` of all rows.

    Rows of one article are similar. If a network were trained on some of them, its score on the others would
    say little about new articles.
    """
    names, counts = articles.unique(return_counts=True)
    order = torch.randperm(len(names), generator=torch.Generator().manual_seed(seed))
    before = counts[order].cumsum(0) - counts[order]  # rows of the articles drawn earlier
    chosen = names[order[before < math.ceil(share * len(articles))]]
    return torch.isin(articles, chosen)
