"""The building blocks of both networks: sinusoids of numbers, and transformer layers."""

import math

import torch
from torch import nn
from torch.nn import functional as F

from snippets.recompute import run_recomputed

# --8<-- [start:sinusoids]
OF_PIXELS = 0.01  # radians per pixel: the canvas is less than half a period of the slowest wave
OF_STEPS = 1e-4  # per step of the diffusion


def sinusoids(values: torch.Tensor, width: int, slowest: float) -> torch.Tensor:
    """Return sines and cosines of `values` (…) at width/2 frequencies from 1 to `slowest`, (…, width)."""
    exponents = torch.linspace(0, math.log(slowest), width // 2, device=values.device)
    angles = values.unsqueeze(-1) * exponents.exp()
    return torch.cat([angles.sin(), angles.cos()], -1)


# --8<-- [end:sinusoids]
# --8<-- [start:layer]
class Layer(nn.Module):
    """Attention among the tokens of a plan, then a network for each token; equivariant to their order."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
        """Return tokens (batch, tokens, width); `mask` (batch, 1, 1, tokens) is false for padding.

        The normalisation has no weights; it equals InstanceNorm1d of tokens in the guide's system.
        """
        x = x + self.attend(F.layer_norm(x, x.shape[-1:]), mask)
        return x + self.down(F.relu(self.up(F.layer_norm(x, x.shape[-1:]))))

    def attend(self, x: torch.Tensor, mask: torch.Tensor | None) -> torch.Tensor:
        """Return the attention output for each token, (batch, tokens, width)."""
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        return self.out(F.scaled_dot_product_attention(q, k, v, attn_mask=mask).transpose(1, 2).flatten(2))


# --8<-- [end:layer]
class Layers(nn.ModuleList):
    """A sequence of layers, and a final normalisation."""

    def __init__(self, width: int, count: int, heads: int, *, recompute: bool = False) -> None:
        """With `recompute`, backward recomputes each layer instead of storing its activations."""
        super().__init__(Layer(width, heads) for _ in range(count))
        self.recompute = recompute

    def forward(self, x: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
        """Return tokens (batch, tokens, width)."""
        layers = [lambda x, layer=layer: layer(x, mask) for layer in self]
        if self.recompute and torch.is_grad_enabled():
            x = run_recomputed(layers, x)
        else:
            for layer in layers:
                x = layer(x)
        return F.layer_norm(x, x.shape[-1:])


def head(width: int, numbers: int) -> nn.Sequential:
    """Return a network that maps a token to `numbers` numbers."""
    hidden = (nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
    return nn.Sequential(*hidden, nn.Linear(width, numbers))
