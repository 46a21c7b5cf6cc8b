"""Which bases are hidden: how many, by what, and which never."""

import pytest
import torch

from examples.genomic_caduceus.masking import masked
from examples.genomic_caduceus.tokens import FIRST_BASE, MASK, PAD, UNKNOWN_BASE


def random(seed=0):
    return torch.Generator().manual_seed(seed)


def bases(rows=200, length=500):
    return torch.randint(FIRST_BASE, UNKNOWN_BASE, (rows, length), generator=random(9))


@pytest.mark.parametrize("share", [0.15, 0.4])
def test_share_of_bases_is_masked_in_three_ways(share):
    tokens = bases()
    hidden, guessed = masked(tokens, share, random())
    assert guessed.float().mean().item() == pytest.approx(share, abs=0.005)
    before, after = tokens[guessed], hidden[guessed]
    by_mask = (after == MASK).float().mean().item()
    same = (after == before).float().mean().item()
    assert by_mask == pytest.approx(0.8, abs=0.015)
    assert same == pytest.approx(0.1 + 0.1 / 4, abs=0.01)  # a base drawn at random may be the same
    others = after[(after != MASK) & (after != before)]
    assert set(others.unique().tolist()) == set(range(FIRST_BASE, UNKNOWN_BASE))
    assert torch.equal(hidden[~guessed], tokens[~guessed])


def test_padding_and_n_are_never_asked_for():
    tokens = bases(50, 100)
    tokens[:, :30] = PAD
    tokens[:, 60:80] = UNKNOWN_BASE
    hidden, guessed = masked(tokens, 0.9, random())
    assert guessed[:, 30:60].float().mean() > 0.85
    assert not guessed[:, :30].any() and not guessed[:, 60:80].any()
    assert torch.equal(hidden[:, :30], tokens[:, :30])
    assert torch.equal(hidden[:, 60:80], tokens[:, 60:80])
    assert not (hidden[guessed] == UNKNOWN_BASE).any()  # nor drawn


def test_generator_makes_masks_repeatable_and_independent():
    tokens = bases(20, 50)
    torch.manual_seed(1)
    first = masked(tokens, 0.15, random())
    drawn = torch.rand(())
    again, other = masked(tokens, 0.15, random()), masked(tokens, 0.15, random(1))
    assert all(torch.equal(one, two) for one, two in zip(first, again, strict=True))
    assert not torch.equal(first[1], other[1])
    torch.manual_seed(1)
    assert torch.equal(drawn, torch.rand(()))
    assert not torch.equal(masked(tokens, 0.15)[1], masked(tokens, 0.15)[1])
