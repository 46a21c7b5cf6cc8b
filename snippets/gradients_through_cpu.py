"""Average the gradients of several Macs: Gloo takes tensors on the CPU alone."""

import torch
import torch.distributed as dist
from torch import nn


# --8<-- [start:average]
def average_gradients(model: nn.Module) -> None:
    """Replace each gradient by its mean over all processes. Call it between `backward` and `step`."""
    gradients = [weight.grad for weight in model.parameters() if weight.grad is not None]
    together = torch.cat([gradient.flatten() for gradient in gradients]).cpu()
    dist.all_reduce(together)
    together /= dist.get_world_size()
    for gradient, mean in zip(gradients, together.split([one.numel() for one in gradients]), strict=True):
        gradient.copy_(mean.view_as(gradient))


# --8<-- [end:average]
