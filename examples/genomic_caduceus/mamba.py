"""The Mamba layer in plain PyTorch, and its bidirectional version."""

import math

import torch
from torch import nn
from torch.nn import functional as F

from snippets.selective_scan import selective_scan


# --8<-- [start:mixer]
class Mixer(nn.Module):
    """The part of a Mamba layer between its projections: a short convolution, then the selective scan.

    Gu and Dao, Mamba: Linear-Time Sequence Modeling with Selective State Spaces, 2023.
    """

    def __init__(self, width: int, state: int = 16, conv: int = 4, expand: int = 2) -> None:
        super().__init__()
        inner = expand * width
        self.rank, self.state = math.ceil(width / 16), state
        self.conv = nn.Conv1d(inner, inner, conv, groups=inner, padding=conv - 1)
        self.x_proj = nn.Linear(inner, self.rank + 2 * state, bias=False)
        self.dt_proj = nn.Linear(self.rank, inner)
        self.A_log = nn.Parameter(torch.arange(1, state + 1).float().log().repeat(inner, 1))
        self.D = nn.Parameter(torch.ones(inner))
        self.begin_with_small_steps()

    @torch.no_grad()
    def begin_with_small_steps(self, least: float = 0.001, most: float = 0.1) -> None:
        """Initialise the step sizes of the scan log-uniformly between `least` and `most`."""
        bound = self.rank**-0.5
        nn.init.uniform_(self.dt_proj.weight, -bound, bound)
        steps = torch.exp(torch.empty_like(self.dt_proj.bias).uniform_(math.log(least), math.log(most)))
        self.dt_proj.bias.copy_(steps + torch.log(-torch.expm1(-steps)))  # the inverse of softplus

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return (batch, length, inner) for x of that shape; positions depend only on earlier ones."""
        x = F.silu(self.conv(x.mT)[..., : x.shape[1]].mT)
        dt, B, C = self.x_proj(x).split([self.rank, self.state, self.state], -1)
        return selective_scan(x, F.softplus(self.dt_proj(dt)), -self.A_log.exp(), B, C, self.D)


# --8<-- [end:mixer]
# --8<-- [start:bimamba]
class BiMamba(nn.Module):
    """A bidirectional Mamba layer; both directions share the input and output projections."""

    def __init__(self, width: int, state: int = 16, conv: int = 4, expand: int = 2) -> None:
        super().__init__()
        self.into = nn.Linear(width, 2 * expand * width, bias=False)
        self.forwards, self.backwards = (Mixer(width, state, conv, expand) for _ in range(2))
        self.out = nn.Linear(expand * width, width, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the sum of both directions, (batch, length, width), for x of that shape."""
        x, gate = self.into(x).chunk(2, -1)
        gate = F.silu(gate)
        one = self.forwards(x) * gate
        other = (self.backwards(x.flip(1)).flip(1)) * gate
        return self.out(one) + self.out(other)


# --8<-- [end:bimamba]
# --8<-- [start:backbone]
class Backbone(nn.Module):
    """Bidirectional layers between an embedding and a normalisation."""

    def __init__(self, width: int, layers: int, state: int = 16, vocabulary: int = 16) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.norms = nn.ModuleList(nn.RMSNorm(width, eps=1e-5) for _ in range(layers))
        self.layers = nn.ModuleList(BiMamba(width, state) for _ in range(layers))
        self.norm = nn.RMSNorm(width, eps=1e-5)
        nn.init.normal_(self.embedding.weight, std=0.02)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Return (batch, length, width) for tokens (batch, length)."""
        x = self.embedding(tokens)
        for norm, layer in zip(self.norms, self.layers, strict=True):
            x = x + layer(norm(x))
        return self.norm(x)


# --8<-- [end:backbone]
