"""Data sets of labelled sequences: generated ones with a known optimum, and folders of classes."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy
import torch

from examples.genomic_caduceus.class_files import (
    SPLITS,
    class_names,
    holds_intervals,
    read_intervals,
    read_split,
)
from examples.genomic_caduceus.tokens import FIRST_BASE, encode_all
from snippets.errors import UsageError
from snippets.foreign_files import PACKED, UNPACKED

LENGTH, PLACES, ERROR = 64, 10, 0.05  # of sequences, of the motif; chance of another base in the motif
TEST = 2_000  # most generated sequences: an accuracy of 95 % then has a standard error of half a percent
HELD_OUT = 0.1  # of the training data of a folder, for validation


@dataclass(frozen=True)
class Labelled:
    """Tokens (sequences, length), uint8, and the class index of each sequence, int64."""

    tokens: torch.Tensor
    classes: torch.Tensor

    def __len__(self) -> int:
        """Return the number of sequences."""
        return len(self.tokens)

    def rows(self, rows: torch.Tensor) -> "Labelled":
        """Return the sequences at `rows`."""
        return Labelled(self.tokens[rows], self.classes[rows])


@dataclass(frozen=True)
class ClassData:
    """A data set: training, validation and test sequences, and the names of its classes."""

    name: str
    source: str
    names: tuple[str, ...]
    train: Labelled
    val: Labelled
    test: Labelled
    best: tuple[float, float] | None = None  # best possible accuracy and loss on `test`, if known

    @property
    def length(self) -> int:
        """Return the number of tokens of a sequence, including padding."""
        return self.train.tokens.shape[1]


# --8<-- [start:motif_data]
def motif_data(sequences: int, seed: int, length: int = LENGTH) -> ClassData:
    """Return generated sequences, half of which contain the seed's motif."""
    random = numpy.random.default_rng(seed)
    motif = Motif.drawn(min(PLACES, length), ERROR, random)
    counts = sequences, max(sequences // 4, 20), min(5 * sequences, TEST)
    made = [generate(count, length, motif, random) for count in counts]
    train, val, test = (Labelled(tokens_of(bases), torch.from_numpy(classes)) for bases, classes in made)
    source = f"generated; a motif of {len(motif.table)} bases, on either strand, in half of them"
    return ClassData("motif", source, NAMES, train, val, test, best_possible(*made[2], motif))


# --8<-- [end:motif_data]
def tokens_of(bases: numpy.ndarray) -> torch.Tensor:
    """Return bases 0 to 3 (A, C, G, T) as tokens, uint8."""
    return torch.from_numpy(bases).to(torch.uint8) + FIRST_BASE


def folder_data(folder: Path, length: int | None, seed: int, reference: Path | None = None) -> ClassData:
    """Return the data set in a folder; a tenth of `train`, chosen by the seed, is held out.

    `reference` is the genome, for a data set of intervals. Raises UsageError.
    """
    if holds_intervals(folder):
        names, splits = read_intervals(folder, reference)
    else:
        names = class_names(folder)
        splits = {split: read_split(folder / split, names) for split in SPLITS}
    train, test = splits["train"], splits["test"]
    longest = max(map(len, [*train.sequences, *test.sequences]))
    length = min(length or longest, longest)
    check_padding(folder, [*train.sequences, *test.sequences], length)
    whole = labelled(train.sequences, train.classes, length)
    order = torch.randperm(len(whole), generator=torch.Generator().manual_seed(seed))
    held_out = max(1, round(HELD_OUT * len(whole)))
    cut = sum(len(sequence) > length for sequence in (*train.sequences, *test.sequences))
    note = f"; {cut:,} sequences were cut to their first {length:,} letters" if cut else ""
    return ClassData(
        folder.name,
        f"{folder}{note}",
        tuple(names),
        whole.rows(order[held_out:].sort().values),
        whole.rows(order[:held_out].sort().values),
        labelled(test.sequences, test.classes, length),
    )


def check_padding(folder: Path, sequences: Sequence[str], length: int) -> None:
    """Raise UsageError when padding to one long sequence would multiply the size of the data."""
    padded = len(sequences) * length
    if padded > max(UNPACKED, PACKED * sum(map(len, sequences))):
        raise UsageError(
            f"{folder}: one of its {len(sequences):,} sequences has {length:,} letters, and all are padded "
            "to that; cut it with dataset.max_length=1024"
        )


def labelled(sequences: Sequence[str], classes: Sequence[int], length: int) -> Labelled:
    """Return sequences of letters as tokens, padded on the left or cut to `length`. Raises UsageError."""
    return Labelled(encode_all(sequences, length), torch.tensor(classes))


BASES = 4  # A, C, G, T as 0 to 3; the complement of b is 3 - b
NAMES = ("background", "motif")  # of the classes, by index


# --8<-- [start:generate]
@dataclass(frozen=True)
class Motif:
    """A motif as probabilities of the bases at each of its positions, (places, 4)."""

    table: numpy.ndarray

    @classmethod
    def drawn(cls, places: int, error: float, random: numpy.random.Generator) -> "Motif":
        """Return a motif with one random base per position, replaced with probability `error`."""
        table = numpy.full((places, BASES), error / (BASES - 1))
        table[numpy.arange(places), random.integers(0, BASES, places)] = 1 - error
        return cls(table)

    def other_strand(self) -> "Motif":
        """Return the reverse complement of the motif."""
        return Motif(self.table[::-1, ::-1])


def generate(
    count: int, length: int, motif: Motif, random: numpy.random.Generator
) -> tuple[numpy.ndarray, numpy.ndarray]:
    """Return sequences (count, length) of bases 0 to 3, and their classes (count,).

    Bases are uniform; class 1 has the motif at a random position of a random strand.
    """
    sequences = random.integers(0, BASES, (count, length))
    classes = random.integers(0, 2, count)
    strands = motif.table, motif.other_strand().table
    places = len(motif.table)
    for row in numpy.flatnonzero(classes):
        table = strands[random.integers(0, 2)]
        start = random.integers(0, length - places + 1)
        drawn = (random.random((places, 1)) > table.cumsum(1)).sum(1).clip(max=BASES - 1)
        sequences[row, start : start + places] = drawn
    return sequences, classes


# --8<-- [end:generate]
# --8<-- [start:best]
def log_likelihood_ratio(sequences: numpy.ndarray, motif: Motif) -> numpy.ndarray:
    """Return log P(sequence | motif) - log P(sequence | background), (count,), the optimal classifier.

    The ratio is the mean, over all positions and both strands, of the product of table[place, base] / (1/4).
    """
    windows = numpy.lib.stride_tricks.sliding_window_view(sequences, len(motif.table), axis=1)
    ratios = []
    for table in (motif.table, motif.other_strand().table):
        logs = numpy.log(table * BASES)
        ratios.append(numpy.exp(logs[numpy.arange(len(table)), windows].sum(-1)))
    return numpy.log(numpy.concatenate(ratios, axis=1).mean(1))


def best_possible(sequences: numpy.ndarray, classes: numpy.ndarray, motif: Motif) -> tuple[float, float]:
    """Return accuracy and cross-entropy, in nats, of the exact likelihood ratio."""
    ratio = log_likelihood_ratio(sequences, motif)
    accuracy = ((ratio > 0) == (classes == 1)).mean()
    entropy = numpy.logaddexp(0, numpy.where(classes == 1, -ratio, ratio)).mean()
    return float(accuracy), float(entropy)


# --8<-- [end:best]
