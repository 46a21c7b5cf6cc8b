"""Masking of bases for a network that learns to predict them."""

import torch

from examples.genomic_caduceus.tokens import FIRST_BASE, MASK, UNKNOWN_BASE


# --8<-- [start:masked]
def masked(
    tokens: torch.Tensor, share: float, generator: torch.Generator | None = None
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return tokens (batch, length) with masked bases, and which are to be predicted, bool.

    Of the bases to predict, 80 % become [MASK], 10 % a random base, and 10 % stay, as in BERT (Devlin and
    others, 2019), so that the network cannot rely on visible bases. Padding and N are never predicted.
    `generator` is on the device of the tokens; None: the default one.
    """
    known = (tokens >= FIRST_BASE) & (tokens < UNKNOWN_BASE)
    guessed = known & (torch.rand(tokens.shape, device=tokens.device, generator=generator) < share)
    kind = torch.rand(tokens.shape, device=tokens.device, generator=generator)
    others = torch.randint(FIRST_BASE, UNKNOWN_BASE, tokens.shape, device=tokens.device, generator=generator)
    hidden = torch.where(kind < 0.8, MASK, torch.where(kind < 0.9, others, tokens))
    return torch.where(guessed, hidden, tokens), guessed


# --8<-- [end:masked]
