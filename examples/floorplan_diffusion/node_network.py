"""Stage 1: the network that predicts the noise in the corners of a plan."""

from typing import TypeVar

import numpy
import torch
from torch import nn

from examples.floorplan_diffusion.layers import OF_PIXELS, OF_STEPS, Layers, head, sinusoids
from examples.floorplan_diffusion.plans import CANVAS, KINDS

Nodes = TypeVar("Nodes", torch.Tensor, numpy.ndarray)
CHANNELS = 2 + len(KINDS) + 1  # x, y, kinds of rooms, and whether the corner is padding


# --8<-- [start:node_network]
class NodeNetwork(nn.Module):
    """A transformer over corners, which is equivariant to their order."""

    def __init__(self, width: int = 256, layers: int = 24, heads: int = 4) -> None:
        super().__init__()
        self.width = width
        self.place = nn.Sequential(nn.Linear(width, width), nn.SiLU(), nn.Linear(width, width))
        self.bits = nn.Linear(CHANNELS - 2, width)
        self.time = nn.Sequential(nn.Linear(width, width), nn.SiLU(), nn.Linear(width, width))
        self.layers = Layers(width, layers, heads)
        self.noise_xy, self.noise_bits = head(width, 2), head(width, CHANNELS - 2)

    def forward(self, nodes: torch.Tensor, steps: torch.Tensor) -> torch.Tensor:
        """Return the noise (batch, corners, 10) in noisy `nodes` of that shape at steps (batch,)."""
        x = self.place(sinusoids(pixels_of(nodes), self.width // 2, OF_PIXELS).flatten(2)) + self.bits(
            nodes[..., 2:]
        )
        x = self.layers(x + self.time(sinusoids(steps, self.width, OF_STEPS)).unsqueeze(1))
        return torch.cat([self.noise_xy(x), self.noise_bits(x)], -1)


def pixels_of(nodes: Nodes) -> Nodes:
    """Return x and y in pixels, (…, 2), of nodes (…, 10), which store them from -1 to 1."""
    return (nodes[..., :2] + 1) * (CANVAS / 2)


# --8<-- [end:node_network]
def node_tensor(corners: torch.Tensor, kinds: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
    """Return corners as input of the diffusion, float32 (plans, corners, 10) from -1 to 1.

    `corners` (…, 2) are pixels, `kinds` (…, 7) and `real` (…) are bool. The last channel is 1 for padding;
    the other channels of padding are those of a corner at the centre without rooms.
    """
    places = torch.where(real.unsqueeze(-1), corners / (CANVAS / 2) - 1, 0)
    bits = torch.cat([kinds, ~real.unsqueeze(-1)], -1)
    return torch.cat([places, bits * 2.0 - 1], -1)
