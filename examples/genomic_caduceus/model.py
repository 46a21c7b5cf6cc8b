"""Networks for DNA with equal outputs for both strands: PS by construction, Ph by training and averaging.

Schiff and others, Caduceus: Bi-Directional Equivariant Long-Range DNA Sequence Modeling, 2024.
"""

import torch
from torch import nn

from examples.genomic_caduceus.mamba import Backbone
from examples.genomic_caduceus.tokens import PAD, complement_map, reverse_complement


# --8<-- [start:strands]
class BothStrands(nn.Module):
    """A backbone that can read both strands, each from its own start.

    Separate calls use the same operations and shapes for both strands, so on a CPU the results for x and for
    its reverse complement are equal bit for bit. Stacked into one batch they are equal except for rounding,
    since the order of a row's sums depends on its position; a GPU then starts half as many kernels.
    """

    def __init__(self, backbone: Backbone, *, both_strands: bool = True, stacked: bool = False) -> None:
        super().__init__()
        self.backbone, self.both_strands, self.stacked = backbone, both_strands, stacked
        self.register_buffer("partners", complement_map(), persistent=False)

    def strands(self, tokens: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the backbone's outputs for tokens (batch, length) and for their other strand."""
        other = reverse_complement(tokens, self.partners)
        if self.stacked:
            return self.backbone(torch.cat([tokens, other])).chunk(2)
        return self.backbone(tokens), self.backbone(other)


# --8<-- [end:strands]
# --8<-- [start:classifier]
class Classifier(BothStrands):
    """Class scores from the mean over the positions.

    PS (`both_strands`): the mean of the scores of both strands, which is equal for the other strand.
    Ph: the scores of the given strand; `conjoined` averages both in evaluation.
    """

    def __init__(self, backbone: Backbone, classes: int, **strands: bool) -> None:
        super().__init__(backbone, **strands)
        self.head = nn.Linear(backbone.norm.normalized_shape[0], classes, bias=False)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Return scores (batch, classes) for tokens (batch, length)."""
        return self.conjoined(tokens) if self.both_strands else self.scores(self.backbone(tokens), tokens)

    def conjoined(self, tokens: torch.Tensor) -> torch.Tensor:
        """Return the mean of the scores of both strands, with padding at the same positions."""
        own, other = self.strands(tokens)
        return (self.scores(own, tokens) + self.scores(other, tokens)) / 2

    def scores(self, hidden: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
        """Return scores from the backbone's output (batch, length, width), without padding."""
        there = (tokens != PAD).unsqueeze(-1)
        return self.head((hidden * there).sum(1) / there.sum(1).clamp(min=1))


# --8<-- [end:classifier]
# --8<-- [start:language_model]
class LanguageModel(BothStrands):
    """Scores of the token at each position, with tied embedding weights.

    PS: for the other strand they are the same, flipped and complemented.
    """

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Return scores (batch, length, 16) for tokens (batch, length) without padding."""
        table = self.backbone.embedding.weight.T
        if not self.both_strands:
            return self.backbone(tokens) @ table
        own, other = self.strands(tokens)
        return (own @ table + (other @ table).flip(1)[..., self.partners]) / 2


# --8<-- [end:language_model]
