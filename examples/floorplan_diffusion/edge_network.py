"""Stage 2: the network that predicts which corners are joined by a wall."""

import torch
from torch import nn

from examples.floorplan_diffusion.layers import OF_PIXELS, Layers, head, sinusoids
from examples.floorplan_diffusion.plans import KINDS


# --8<-- [start:pairs]
def all_pairs(corners: int, device: torch.device) -> torch.Tensor:
    """Return the pairs of different corners, each once: (2, corners · (corners - 1) / 2)."""
    return torch.triu_indices(corners, corners, offset=1, device=device)


def in_order(start: torch.Tensor, end: torch.Tensor) -> torch.Tensor:
    """Return which pairs of points (…, 2) begin with the left one, or at equal x with the upper one."""
    dx, dy = (end - start).unbind(-1)
    return (dx > 0) | ((dx == 0) & (dy >= 0))


# --8<-- [end:pairs]
# --8<-- [start:edge_network]
class EdgeNetwork(nn.Module):
    """A transformer whose tokens are pairs of corners.

    The pairs (A, B) and (B, A) give the same token. Attention over all ordered pairs would have every token
    twice, which does not change weighted means. So half of the tokens, with a quarter of the scores, give the
    same result.
    """

    def __init__(
        self, width: int = 256, layers: int = 12, heads: int = 4, *, recompute: bool = False
    ) -> None:
        super().__init__()
        self.width = width
        self.bits = nn.Linear(len(KINDS), width // 2)
        self.layers = Layers(width, layers, heads, recompute=recompute)
        self.wall, self.fraction = nn.Linear(width, 2), head(width, 1)

    def forward(
        self,
        corners: torch.Tensor,
        bits: torch.Tensor,
        pairs: torch.Tensor,
        real: torch.Tensor,
        fractions: torch.Tensor,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return scores of "no wall" and "wall" (batch, pairs, 2), and fractions up to 0.5 (batch, pairs).

        `corners` (batch, corners, 2) are pixels, `bits` (batch, corners, 7) kinds of rooms. `pairs`
        (2, pairs) are indices of corners, and `real` (batch, pairs) is false for padding. Each token also
        has the point at `fractions` (batch, pairs) of the line between its corners; the network learns to
        predict the fraction.
        """
        x = self.layers(self.tokens(corners, bits, pairs, fractions), real[:, None, None])
        guessed = self.fraction(x).squeeze(-1).sigmoid()
        return self.wall(x), torch.minimum(guessed, 1 - guessed)

    def tokens(
        self, corners: torch.Tensor, bits: torch.Tensor, pairs: torch.Tensor, fractions: torch.Tensor
    ) -> torch.Tensor:
        """Return a token per pair, (batch, pairs, width), of both ends, point, difference and bits."""
        a, b = corners[:, pairs[0]], corners[:, pairs[1]]
        swap = ~in_order(a, b).unsqueeze(-1)
        start, end = torch.where(swap, b, a), torch.where(swap, a, b)
        point = torch.lerp(start, end, fractions.unsqueeze(-1))
        numbers = torch.cat([start, end, point, end - start], -1)  # eight numbers, of width/8 sinusoids each
        bits = self.bits(bits)
        of_a, of_b = bits[:, pairs[0]], bits[:, pairs[1]]
        both = torch.cat([torch.where(swap, of_b, of_a), torch.where(swap, of_a, of_b)], -1)
        return sinusoids(numbers, self.width // 8, OF_PIXELS).flatten(-2) + both


# --8<-- [end:edge_network]
@torch.no_grad()
def wall_scores(
    network: EdgeNetwork, corners: torch.Tensor, bits: torch.Tensor, counts: torch.Tensor, pairs: torch.Tensor
) -> torch.Tensor:
    """Return scores of "no wall" and "wall", (plans, pairs, 2), for undisturbed corners.

    The additional point of each token is the middle of the pair.
    """
    real = pairs[1] < counts.unsqueeze(1)
    middle = torch.full(real.shape, 0.5, device=corners.device)
    return network(corners, bits, pairs, real, middle)[0]
