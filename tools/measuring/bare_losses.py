"""What a step of a bare training loop must compute, and nothing that is only counted beside it.

Random numbers are drawn in the order in which the programs draw them, so that equal seeds teach the same.
"""

from __future__ import annotations

import math
from functools import cache, singledispatch
from itertools import pairwise
from typing import Any

import torch
from torch.nn import functional as F
from torch.optim.swa_utils import get_ema_multi_avg_fn

from examples.floorplan_diffusion.train_edges import EdgePrediction
from examples.floorplan_diffusion.train_nodes import NodeDiffusion
from examples.genomic_caduceus.masking import masked
from examples.genomic_caduceus.pretrain import MaskedBases
from examples.genomic_caduceus.train import Classification
from examples.two_tower.train import Retrieval


@singledispatch
def bare_loss(task: Any, batch: Any) -> torch.Tensor:
    """Return the loss of a batch, (): what `task.loss` returns first, unless that counts more beside it."""
    return task.loss(task.network, batch)[0]


@singledispatch
def after_step(task: Any) -> None:
    """Do what follows the optimizers' step, once it is counted: usually nothing."""


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


@bare_loss.register
def class_loss(task: Classification, batch: tuple[torch.Tensor, ...]) -> torch.Tensor:
    """Return the cross-entropy of classes; what is right is not counted."""
    with task.precision.autocast():
        scores = task.network(batch[0].long())
    return F.cross_entropy(scores.float(), batch[1])


@bare_loss.register
def base_loss(task: MaskedBases, batch: tuple[torch.Tensor]) -> torch.Tensor:
    """Return the cross-entropy of the masked bases; what is right is not counted."""
    tokens = batch[0].long()
    hidden, guessed = masked(tokens, task.options.mlm_probability)
    with task.precision.autocast():
        scores = task.network(hidden)
    losses = F.cross_entropy(scores.float().mT, tokens, reduction="none")
    return (losses * guessed).sum() / guessed.sum().clamp(min=1)


@cache
def cosine_schedule(device: torch.device, steps: int = 1000) -> tuple[torch.Tensor, ...]:
    """Return signal, noise and weight of the alignment at each step, (steps,), after Nichol and Dhariwal."""
    left = [math.cos((step / steps + 0.008) / 1.008 * math.pi / 2) ** 2 for step in range(steps + 1)]
    betas = [min(1 - after / before, 0.999) for before, after in pairwise(left)]
    betas = torch.tensor(betas, dtype=torch.float64)
    kept = (1 - betas).cumprod(0)
    return tuple(values.float().to(device) for values in (kept.sqrt(), (1 - kept).sqrt(), betas.flip(0)))


@bare_loss.register
def noise_loss(task: NodeDiffusion, batch: tuple[torch.Tensor]) -> torch.Tensor:
    """Return the squared error of the noise, that of x and y weighted, and how far corners are from a line.

    The options must have a focus of at least 1: no step is then rounded up to one that does not exist.
    """
    (nodes,) = batch
    options, device = task.options, nodes.device
    order = torch.rand(nodes.shape[:2], device=device).argsort(1)
    nodes = nodes.take_along_dim(order.unsqueeze(2), 1)
    signal, spread, line_weight = cosine_schedule(device)
    steps = (len(signal) * torch.rand(len(nodes), device=device) ** options.focus).long()
    signal, spread = signal[steps, None, None], spread[steps, None, None]
    noise = torch.randn_like(nodes)
    noisy = signal * nodes + spread * noise
    with task.precision.autocast():
        predicted = task.network(noisy, steps)
    predicted = predicted.float()
    errors = (predicted - noise).square().mean((0, 1))
    places = ((noisy - spread * predicted) / signal)[..., :2].clamp(-1, 1)
    crooked = crookedness(places, nodes[..., -1] < 0)
    aligned = (line_weight[steps] * crooked.mean(1)).mean()
    return options.place_weight * errors[:2].sum() + errors[2:].sum() + options.alignment * aligned


def crookedness(places: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
    """Return -2·ln(1 - d/2) for corners in x or y d away from the nearest other one, 0 for padding."""
    itself = torch.eye(places.shape[1], dtype=torch.bool, device=places.device)
    others = real[:, :, None] & real[:, None] & ~itself
    apart = (places[:, :, None] - places[:, None]).abs().amin(3)
    nearest = apart.masked_fill(~others, torch.inf).amin(2)
    return -2 * (1 - nearest / 2).clamp(min=1e-4).log() * real


@after_step.register
def average_weights(task: NodeDiffusion) -> None:
    """Let the averaged weights follow."""
    step = task.state.step
    decay = min(task.options.ema, (1 + step) / (10 + step))
    get_ema_multi_avg_fn(decay)(list(task.average.parameters()), list(task.model.parameters()), None)


@bare_loss.register
def wall_loss(task: EdgePrediction, batch: tuple[torch.Tensor, ...]) -> torch.Tensor:
    """Return the cross-entropy of walls and the L1 distance of third points, for pairs of disturbed corners.

    Whatever lies behind the largest plan of the batch is cut off.
    """
    corners, kinds, counts, walls = batch
    most = task.largest[task.state.step % task.steps_per_epoch]
    corners, kinds = corners[:, :most], kinds[:, :most]
    corners = corners + torch.randn_like(corners).clamp(-3, 3)
    kinds = torch.where(torch.rand_like(kinds) < 0.01, 1 - kinds, kinds)
    first, second = pairs = torch.triu_indices(most, most, 1, device=corners.device)
    real = second < counts[:, None]
    third = torch.rand(real.shape, device=corners.device)
    with task.precision.autocast():
        scores, guessed = task.network(corners, kinds, pairs, real, third)
    missed = F.cross_entropy(scores.float().mT, walls[:, first, second].long(), reduction="none")
    apart = F.l1_loss(guessed.float(), torch.minimum(third, 1 - third), reduction="none")
    return ((missed + apart) * real).sum() / real.sum()
