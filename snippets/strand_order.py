"""Why published Caduceus-PS weights give other results when `fused_add_norm` is turned off.

Their network keeps both strands side by side: one as it is read, the other in the frame of the opposite
strand, with positions and channels reversed. With the fused kernel, each block swaps the two halves before it
normalises them; without it, the halves stay (caduceus/modeling_rcps.py in kuleshov-group/caduceus on GitHub,
commit 0060a6d). Both networks treat the strands equally, but they are different functions, so weights of one
do not work in the other.
"""

import torch
from torch import nn


# --8<-- [start:strands]
def turned(x: torch.Tensor) -> torch.Tensor:
    """Return x (batch, length, width) in the other strand's frame: positions and channels reversed."""
    return x.flip(-2, -1)


class StrandsSideBySide(nn.Module):
    """Layers for both strands; with `exchanged`, each layer swaps them like the fused kernel."""

    def __init__(self, norms: nn.ModuleList, layers: nn.ModuleList, *, exchanged: bool) -> None:
        super().__init__()
        self.norms, self.layers, self.exchanged = norms, layers, exchanged

    def forward(self, one: torch.Tensor, other: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return both strands (batch, length, width); `other` and the second result are reversed."""
        for norm, layer in zip(self.norms, self.layers, strict=True):
            if self.exchanged:
                one, other = other, one  # without reversing them: each is now read from its end
            one = one + layer(norm(one))
            other = turned(turned(other) + layer(norm(turned(other))))
        return one, other


# --8<-- [end:strands]
