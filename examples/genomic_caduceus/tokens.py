"""Bases as tokens, one per letter, and their complements on the other strand."""

from collections import Counter
from dataclasses import dataclass, field

import numpy
import torch

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
AMBIGUOUS = "RYSWKMBDHV"  # IUPAC's letters for two or three possible bases; they are read as N


CURES = {  # by letters that are no bases
    b"-.": "; remove the gaps of an alignment",
    b"EFILPQefilpq": "; proteins have it, so take this file out if it is one",
    b" \t": "; write sequences without blanks, or as k-mers that overlap in all but one letter",
}


class NoBase(ValueError):
    """A letter that is no base, with its place in what was given, counted from 0."""

    def __init__(self, letter: int, place: int) -> None:
        cure = next((cure for letters, cure in CURES.items() if letter in letters), "")
        super().__init__(f"the letter {chr(letter)!r} is no base; the letters are {', '.join(BASES)}{cure}")
        self.place = place


@dataclass
class Replaced:
    """How many letters were read as others."""

    ambiguous: int = 0  # AMBIGUOUS, read as N
    uracil: int = 0  # U of RNA, read as T
    kmers: Counter[int] = field(default_factory=Counter)  # sequences of overlapping words, by their length

    def add(self, other: "Replaced") -> None:
        """Add the numbers of another one."""
        self.ambiguous += other.ambiguous
        self.uracil += other.uracil
        self.kmers += other.kmers

    def note(self) -> str:
        """Return what was replaced in words; empty if nothing was."""
        kinds = (("IUPAC letters read as N", self.ambiguous), ("letters U read as T", self.uracil))
        words = [(f"sequences joined of overlapping {k}-mers", count) for k, count in self.kmers.items()]
        return ", ".join(f"{what}: {count:,}" for what, count in (*kinds, *words) if count)


def encode(letters: numpy.ndarray, replaced: Replaced | None = None) -> numpy.ndarray:
    """Return the tokens, uint8 (letters,), of letters, uint8 (letters,), and count in `replaced`.

    Lower case, which marks repeats in FASTA files, is the same. Raises NoBase.
    """
    tokens = TOKEN_OF_BYTE[letters]
    if not tokens.all():  # 0 is [CLS], which stands for no letter
        place = int((tokens == 0).argmax())
        raise NoBase(int(letters[place]), place)
    if replaced is not None:
        kinds = KIND_OF_BYTE[letters]
        replaced.ambiguous += int(numpy.count_nonzero(kinds == 1))
        replaced.uracil += int(numpy.count_nonzero(kinds == 2))
    return tokens


def table_of_bytes(values: dict[str, int]) -> numpy.ndarray:
    """Return the value of each letter in either case by its code, uint8 (256,); 0 for other characters."""
    table = numpy.zeros(256, dtype=numpy.uint8)
    for letter, value in values.items():
        table[[ord(letter), ord(letter.lower())]] = value
    return table


KIND_OF_BYTE = table_of_bytes(dict.fromkeys(AMBIGUOUS, 1) | {"U": 2})
TOKEN_OF_BYTE = table_of_bytes(
    {base: token for token, base in enumerate(BASES, FIRST_BASE)}
    | dict.fromkeys(AMBIGUOUS, UNKNOWN_BASE)
    | {"U": FIRST_BASE + BASES.index("T")}
)
BYTES = numpy.frombuffer(BASES.encode(), dtype=numpy.uint8)


def letters(tokens: numpy.ndarray) -> str:
    """Return bases, uint8 (letters,), as letters in upper case."""
    return BYTES[tokens - FIRST_BASE].tobytes().decode()


def other_strand(tokens: numpy.ndarray) -> numpy.ndarray:
    """Return the reverse complement of tokens, uint8 (letters,)."""
    return PARTNER_OF_TOKEN[tokens[::-1]]


PARTNER_OF_TOKEN = complement_map().numpy().astype(numpy.uint8)


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
