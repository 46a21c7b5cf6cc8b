"""The losses of bare training loops: what a step must compute, and nothing that is only counted beside it."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import torch
from torch.nn import functional as F

from examples.two_tower.train import Retrieval


@singledispatch
def bare_loss(task: Any, batch: Any) -> torch.Tensor:
    """Return the loss of a batch, (): what `task.loss` returns first, unless that counts more beside it."""
    return task.loss(task.network, batch)[0]


@bare_loss.register
def contrastive_loss(task: Retrieval, batch: tuple[torch.Tensor, ...]) -> torch.Tensor:
    """Return the cross-entropy of contexts that look for their payloads; who found it is not counted."""
    rows, contexts, payloads = batch
    with task.precision.autocast():
        contexts, payloads, scale = task.network(contexts, payloads)
    contexts, payloads = contexts.float(), payloads.float()
    article, payload = task.articles[rows], task.payload_ids[rows]
    same = (article[:, None] == article) | (payload[:, None] == payload)
    in_batch = (contexts @ payloads.T).masked_fill(same.fill_diagonal_(False), -torch.inf)
    ids = task.negatives.rows[rows]
    further = torch.einsum("bw,bkw->bk", contexts, task.negatives.cache[ids.clamp(min=0)])
    scores = scale * torch.cat([in_batch, further.masked_fill(ids < 0, -torch.inf)], dim=1)
    return F.cross_entropy(scores, torch.arange(len(rows), device=scores.device))
