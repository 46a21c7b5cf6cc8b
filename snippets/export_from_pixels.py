"""A network to export that prepares its pictures itself."""

from collections.abc import Sequence

import torch
from torch import nn


# --8<-- [start:from_pixels]
class FromPixels(nn.Module):
    """Compute probabilities (count, classes) from pixels (count, channels, height, width) of 0 to 255.

    `mean` and `std` are those of the training, of pixels divided by 255, one for each channel.
    """

    def __init__(self, network: nn.Module, mean: Sequence[float], std: Sequence[float]) -> None:
        super().__init__()
        self.network = network
        self.register_buffer("mean", torch.tensor(mean)[:, None, None])
        self.register_buffer("std", torch.tensor(std)[:, None, None])

    def forward(self, pixels: torch.Tensor) -> torch.Tensor:
        return self.network((pixels / 255 - self.mean) / self.std).softmax(dim=1)


# --8<-- [end:from_pixels]
