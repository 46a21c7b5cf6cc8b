"""Bases as tokens, one per letter, and their complements on the other strand."""

from collections.abc import Sequence

import numpy
import torch

from snippets.errors import UsageError

# --8<-- [start:tokens]
SPECIAL = ("[CLS]", "[SEP]", "[BOS]", "[MASK]", "[PAD]", "[RESERVED]", "[UNK]")
BASES = "ACGTN"
MASK, PAD = SPECIAL.index("[MASK]"), SPECIAL.index("[PAD]")
FIRST_BASE = len(SPECIAL)
UNKNOWN_BASE = FIRST_BASE + BASES.index("N")
VOCABULARY = 16  # 12 tokens, padded to a size that suits kernels
PARTNER = dict(zip("ACGTN", "TGCAN", strict=True))


def complement_map() -> torch.Tensor:
    """Return the complement of every token, int64 (16,); special tokens are their own."""
    partners = torch.arange(VOCABULARY)
    for base, partner in PARTNER.items():
        partners[FIRST_BASE + BASES.index(base)] = FIRST_BASE + BASES.index(partner)
    return partners


# --8<-- [end:tokens]
def encode(sequence: str, length: int) -> numpy.ndarray:
    """Return the first `length` letters of a sequence as tokens, uint8 (length,), with padding on the left.

    Lower case, which marks repeats in FASTA files, is the same. Raises UsageError for other letters.
    """
    letters = numpy.frombuffer(sequence[:length].encode("latin1", "replace"), dtype=numpy.uint8)
    tokens = numpy.full(length, PAD, dtype=numpy.uint8)
    tokens[length - len(letters) :] = found = TOKEN_OF_BYTE[letters]
    if not found.all():  # 0 is [CLS], which stands for no letter
        raise UsageError(no_base(sequence[int((found == 0).argmax())]))
    return tokens


def no_base(letter: str) -> str:
    """Return the error message for a letter that is no base."""
    return f"the letter {letter!r} is no base; the letters are {', '.join(BASES)}"


def token_of_byte() -> numpy.ndarray:
    """Return the token of each letter by its code, uint8 (256,); 0 for other characters."""
    table = numpy.zeros(256, dtype=numpy.uint8)
    for token, base in enumerate(BASES, FIRST_BASE):
        table[[ord(base), ord(base.lower())]] = token
    return table


TOKEN_OF_BYTE = token_of_byte()
LETTERS = BASES + BASES.lower()
BYTES = numpy.frombuffer(BASES.encode(), dtype=numpy.uint8)


def letters(tokens: numpy.ndarray) -> str:
    """Return bases, uint8 (letters,), as letters in upper case."""
    return BYTES[tokens - FIRST_BASE].tobytes().decode()


def other_strand(sequence: str) -> str:
    """Return the reverse complement of a sequence of letters in upper case."""
    return sequence.translate(OTHER_LETTERS)[::-1]


OTHER_LETTERS = str.maketrans(PARTNER)


def encode_all(sequences: Sequence[str], length: int) -> torch.Tensor:
    """Return the tokens of sequences, uint8 (sequences, length). Raises UsageError."""
    tokens = numpy.empty((len(sequences), length), dtype=numpy.uint8)
    for row, sequence in zip(tokens, sequences, strict=True):
        row[:] = encode(sequence, length)
    return torch.from_numpy(tokens)


# --8<-- [start:reverse_complement]
def reverse_complement(tokens: torch.Tensor, partners: torch.Tensor) -> torch.Tensor:
    """Return the reverse complement of tokens (batch, length), with padding on the left."""
    length = tokens.shape[1]
    padding = (tokens == PAD).sum(1, keepdim=True)
    places = torch.arange(length, device=tokens.device)
    mirrored = (length - 1 - places + padding).clamp(max=length - 1)  # padding may take any position
    return torch.where(places < padding, PAD, partners[tokens].gather(1, mirrored))


def turned_at_random(tokens: torch.Tensor, partners: torch.Tensor) -> torch.Tensor:
    """Return tokens (batch, length), with each sequence reverse-complemented with probability one half."""
    turned = torch.rand(len(tokens), 1, device=tokens.device) < 0.5
    return torch.where(turned, reverse_complement(tokens, partners), tokens)


# --8<-- [end:reverse_complement]
