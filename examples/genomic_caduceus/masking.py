"""Which bases are hidden, and what stands in their place while a network learns to guess them."""

import torch

from examples.genomic_caduceus.tokens import FIRST_BASE, MASK, UNKNOWN_BASE


# --8<-- [start:masked]
def masked(
    tokens: torch.Tensor, share: float, generator: torch.Generator | None = None
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return tokens (batch, length) with some bases hidden, and which are to be guessed, bool.

    Of the bases to guess, 80 % become [MASK], 10 % a base drawn at random, and 10 % stay, as in BERT (Devlin
    and others, 2019): the network cannot rely on a base that it sees. Padding and N are never asked for.
    `generator` is of the device of the tokens; None: the default one.
    """
    known = (tokens >= FIRST_BASE) & (tokens < UNKNOWN_BASE)
    guessed = known & (torch.rand(tokens.shape, device=tokens.device, generator=generator) < share)
    kind = torch.rand(tokens.shape, device=tokens.device, generator=generator)
    others = torch.randint(FIRST_BASE, UNKNOWN_BASE, tokens.shape, device=tokens.device, generator=generator)
    hidden = torch.where(kind < 0.8, MASK, torch.where(kind < 0.9, others, tokens))
    return torch.where(guessed, hidden, tokens), guessed


# --8<-- [end:masked]
