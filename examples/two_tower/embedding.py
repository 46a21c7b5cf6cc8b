"""Compute the vectors of all contexts and payloads without gradients, in chunks, on any device."""

import contextlib
from collections.abc import Iterator

import torch
from torch import nn

from examples.two_tower.model import TwoTowers

CHUNK = 1024  # contexts or payloads at once


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


def embed_contexts(
    model: TwoTowers, contexts: torch.Tensor, rows: torch.Tensor, device: torch.device
) -> torch.Tensor:
    """Return the vectors of some rows (n,) of contexts (N, positions, width_in) on `device`, (n, width)."""
    with not_learning(model):
        return torch.cat([model.context(contexts[part].to(device)) for part in rows.split(CHUNK)])


def embed_payloads(model: TwoTowers, payloads: torch.Tensor, device: torch.device) -> torch.Tensor:
    """Return the vectors of all payloads (N, width_in) on `device`, (N, width)."""
    with not_learning(model):
        return torch.cat([model.payload(part.to(device)) for part in payloads.split(CHUNK)])
