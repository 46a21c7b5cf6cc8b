"""A gradient accumulation loop that runs and learns, but updates at the wrong step. Not for use."""

from collections.abc import Iterable

import torch
from torch import nn
from torch.nn import functional as F


# --8<-- [start:wrong_moment]
def update_at_the_wrong_moment(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    batches: Iterable[tuple[torch.Tensor, torch.Tensor]],
    passes: int,
) -> None:
    """Intend one update per `passes` batches. Counting starts at 0, so the first update comes too early."""
    for number, (inputs, targets) in enumerate(batches):
        loss = F.mse_loss(model(inputs), targets) / passes
        loss.backward()
        if number % passes == 0:
            optimizer.step()
            optimizer.zero_grad()


# --8<-- [end:wrong_moment]
