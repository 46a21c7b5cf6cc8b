"""Letters as tokens, their partners, and the other strand."""

import numpy
import pytest
import torch

from examples.genomic_caduceus.tokens import (
    BASES,
    FIRST_BASE,
    MASK,
    PAD,
    SPECIAL,
    UNKNOWN_BASE,
    VOCABULARY,
    NoBase,
    Replaced,
    complement_map,
    encode,
    reverse_complement,
    turned_at_random,
)
from tests.examples.genomic_caduceus.data_files import encode_all, sequences_of

PARTNERS = complement_map()
NUMBERS = {"A": 7, "C": 8, "G": 9, "T": 10, "N": 11}  # as in the published networks


def letters(tokens):
    """Return tokens as letters, and what is none as a dot."""
    names = {number: letter for letter, number in NUMBERS.items()}
    return ["".join(names.get(token, ".") for token in row) for row in tokens.tolist()]


def test_tokens_have_the_published_numbers():
    assert {letter: FIRST_BASE + BASES.index(letter) for letter in BASES} == NUMBERS
    assert (SPECIAL.index("[CLS]"), MASK, PAD, SPECIAL.index("[UNK]")) == (0, 3, 4, 6)
    assert (UNKNOWN_BASE, VOCABULARY) == (11, 16)
    assert encode_all(["ACGTN"], 5).tolist() == [[7, 8, 9, 10, 11]]


def test_bases_are_paired_and_other_tokens_pair_themselves():
    everything = torch.arange(VOCABULARY)
    assert torch.equal(PARTNERS[PARTNERS], everything)
    changed = everything[everything != PARTNERS].tolist()
    assert changed == [NUMBERS[base] for base in "ACGT"]
    assert [PARTNERS[NUMBERS[base]].item() for base in "ACGT"] == [NUMBERS[base] for base in "TGCA"]


def test_padding_is_left_and_cutting_is_right():
    tokens = encode_all(["ACGT", "", "acgtnACGTN"], 6)
    assert letters(tokens) == ["..ACGT", "......", "ACGTNA"]
    assert (tokens[0, :2] == PAD).all() and (tokens[1] == PAD).all()
    assert tokens.dtype == torch.uint8


@pytest.mark.parametrize(
    ("sequence", "letter", "place"),
    [("ACXGT", "X", 2), ("acgx", "x", 3), ("AC GT", " ", 2), ("ACG\n", "\n", 3), ("-", "-", 0)],
)
def test_other_letters_are_named(sequence, letter, place):
    with pytest.raises(NoBase) as error:
        sequences_of([sequence])
    said = f"the letter {letter!r} is no base; the letters are A, C, G, T, N"
    assert (error.value.place, str(error.value).startswith(said)) == (place, True)


def test_iupac_letters_are_n_and_u_is_t():
    found = sequences_of(["ARYSWKMBDHVN", "aryswkmbdhvn", "ACGU", "acgu"])
    assert letters(found.padded(12)) == ["A" + 11 * "N"] * 2 + [8 * "." + "ACGT"] * 2
    assert found.replaced == Replaced(ambiguous=20, uracil=2)
    assert found.replaced.note() == "IUPAC letters read as N: 20, letters U read as T: 2"
    assert encode(numpy.array([], dtype=numpy.uint8)).tolist() == []


def test_the_other_strand_is_read_from_its_own_beginning():
    tokens = encode_all(["AACGTN", "AACG", "ac", ""], 6).long()
    assert letters(reverse_complement(tokens, PARTNERS)) == ["NACGTT", "..CGTT", "....GT", "......"]


def test_turned_twice_is_what_it_was():
    torch.manual_seed(0)
    tokens = torch.randint(FIRST_BASE, UNKNOWN_BASE + 1, (50, 30))
    for row in range(30):
        tokens[row, :row] = PAD
    once = reverse_complement(tokens, PARTNERS)
    assert torch.equal(reverse_complement(once, PARTNERS), tokens)
    assert torch.equal(once == PAD, tokens == PAD)
    assert not torch.equal(once, tokens)


def test_every_second_sequence_is_turned():
    torch.manual_seed(0)
    tokens = torch.randint(FIRST_BASE, UNKNOWN_BASE, (2000, 12))
    found, other = turned_at_random(tokens, PARTNERS), reverse_complement(tokens, PARTNERS)
    turned = (found == other).all(1)
    assert ((found == tokens).all(1) | turned).all()
    assert turned.float().mean().item() == pytest.approx(0.5, abs=0.04)
    assert not torch.equal(turned_at_random(tokens, PARTNERS), found)
