"""Data sets of labelled sequences: generated ones whose optimum is known, and folders of classes."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy
import torch

from examples.genomic_caduceus.csv_sequences import holds_intervals, read_intervals
from examples.genomic_caduceus.folders import SPLITS, class_names, read_split
from examples.genomic_caduceus.motifs import NAMES, Motif, best_possible, generate
from examples.genomic_caduceus.tokens import FIRST_BASE, encode_all

LENGTH, PLACES, ERROR = 64, 10, 0.05  # of generated sequences, of the motif, chance of another base in it
TEST = 2_000  # generated sequences at most: an accuracy of 95 % is then known to half a percent
HELD_OUT = 0.1  # of the training data of a folder, to choose by


@dataclass(frozen=True)
class Labelled:
    """Tokens (sequences, length), uint8, and the number of the class of each sequence, int64."""

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
    """A data set: what to learn from, what to choose by, what to test with, and the names of its classes."""

    name: str
    source: str
    names: tuple[str, ...]
    train: Labelled
    val: Labelled
    test: Labelled
    best: tuple[float, float] | None = None  # accuracy and loss on `test` that nobody can surpass, if known

    @property
    def length(self) -> int:
        """Return the tokens of a sequence, padding included."""
        return self.train.tokens.shape[1]


# --8<-- [start:motif_data]
def motif_data(sequences: int, seed: int, length: int = LENGTH) -> ClassData:
    """Return generated sequences, of which half hold the seed's motif."""
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

    `reference` is the genome of one that says where its sequences are. Raises UsageError.
    """
    if holds_intervals(folder):
        names, splits = read_intervals(folder, reference)
    else:
        names = class_names(folder)
        splits = {split: read_split(folder / split, names) for split in SPLITS}
    train, test = splits["train"], splits["test"]
    longest = max(map(len, [*train.sequences, *test.sequences]))
    length = min(length or longest, longest)
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


def labelled(sequences: Sequence[str], classes: Sequence[int], length: int) -> Labelled:
    """Return sequences of letters as tokens, padded on the left, cut behind `length`. Raises UsageError."""
    return Labelled(encode_all(sequences, length), torch.tensor(classes))
