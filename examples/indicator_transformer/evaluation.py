"""Evaluate a network on held-out samples."""

from collections.abc import Iterator

import torch
from torch import nn
from torch.nn import functional as F

from examples.indicator_transformer.samples import Samples

BATCH = 500  # samples per forward pass


@torch.no_grad()
def predictions(model: nn.Module, samples: Samples) -> Iterator[tuple[Samples, torch.Tensor, torch.Tensor]]:
    """Yield parts of `samples` with logits and weights (part, indicators) of `model`, in float32."""
    model.eval()
    for chosen in torch.arange(len(samples), device=samples.bar.device).split(BATCH):
        part = samples[chosen]
        yield part, *model(part.indicator_values, part.market_context)
    model.train()


# --8<-- [start:forecast]
def forecast(logits: torch.Tensor, weights: torch.Tensor, calls: torch.Tensor) -> torch.Tensor:
    """Return the weighted call (n,) of the selected indicators, -1 to 1, and 0 when none is selected."""
    return (selected_weights(logits, weights) * calls).sum(1)


def selected_weights(logits: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    """Return the weights (n, indicators) of selected indicators, scaled to the sum 1, and 0 for the others.

    Indicators with a probability above one half are selected.
    """
    return F.normalize(weights * (logits > 0), p=1, dim=1)


# --8<-- [end:forecast]
def evaluate(model: nn.Module, samples: Samples) -> dict[str, float]:
    """Return the means over all samples; accuracies and shares from 0 to 1.

    val_bce        cross-entropy of the probabilities, in nats
    val_selected   number of selected indicators
    val_agreement  share of the indicators that are selected if, and only if, their usefulness exceeds 0.5
    val_right      share of the samples whose forecast has the right direction; no forecast counts as half
    """
    sums = torch.zeros(4, device=samples.bar.device)
    for part, logits, weights in predictions(model, samples):
        selected = logits > 0
        right = (forecast(logits, weights, part.calls) * part.future_return.squeeze(1)).sign()
        sums += torch.stack(
            [
                F.binary_cross_entropy_with_logits(logits, part.indicator_usefulness) * len(part),
                selected.sum(),
                (selected == (part.indicator_usefulness > 0.5)).float().mean() * len(part),
                (right + 1).sum() / 2,
            ]
        )
    names = ("val_bce", "val_selected", "val_agreement", "val_right")
    return dict(zip(names, (sums / len(samples)).tolist(), strict=True))
