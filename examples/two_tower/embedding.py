"""Compute the vectors of contexts and payloads without gradients, in chunks, on any device."""

import contextlib
import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import nn

from examples.two_tower.model import TwoTowers
from examples.two_tower.nearest import PIECE, bar

AT_ONCE = 1024  # rows that a tower reads


@contextlib.contextmanager
def not_learning(model: nn.Module) -> Iterator[None]:
    """Inside the block, disable dropout and gradients."""
    learning = model.training
    model.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        model.train(learning)


def joined(parts: Iterator[torch.Tensor], count: int) -> torch.Tensor:
    """Return parts (…, width) as one tensor (count, width), without holding all of them twice."""
    with bar(count, "vectors", " rows") as done:
        first = next(parts)
        whole = first.new_empty(count, first.shape[1])
        start = 0
        for part in itertools.chain([first], parts):
            whole[start : start + len(part)] = part
            start += len(part)
            done.update(len(part))
    return whole


def embed_contexts(
    model: TwoTowers, contexts: torch.Tensor, rows: torch.Tensor, device: torch.device
) -> torch.Tensor:
    """Return the vectors of some rows (n,) of contexts (N, positions, width_in) on `device`, (n, width)."""
    with not_learning(model):
        return joined((model.context(contexts[part].to(device)) for part in rows.split(AT_ONCE)), len(rows))


def each_context(
    model: TwoTowers, contexts: torch.Tensor, rows: torch.Tensor, device: torch.device
) -> Iterator[torch.Tensor]:
    """Yield the same vectors in parts."""
    for part in rows.split(AT_ONCE):
        yield embed_contexts(model, contexts, part, device)


def embed_payloads(model: TwoTowers, payloads: torch.Tensor, device: torch.device) -> torch.Tensor:
    """Return the vectors of all payloads (N, width_in) on `device`, (N, width)."""
    with not_learning(model):
        return joined((model.payload(part.to(device)) for part in payloads.split(AT_ONCE)), len(payloads))


@dataclass
class EmbeddedPayloads:
    """The vectors of all payloads in pieces, which are computed each time they are used."""

    model: TwoTowers
    payloads: torch.Tensor  # (N, width_in), perhaps a mapped file
    device: torch.device

    def __iter__(self) -> Iterator[torch.Tensor]:
        """Yield vectors (at most PIECE, width) on the device."""
        for piece in self.payloads.split(PIECE):
            yield embed_payloads(self.model, piece, self.device)
