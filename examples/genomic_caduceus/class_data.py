"""Sequences with classes: what a data set of them is, and those in folders and tables."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from examples.genomic_caduceus.class_files import (
    SPLITS,
    class_names,
    holds_intervals,
    read_intervals,
    read_split,
)
from examples.genomic_caduceus.tokens import encode_all
from snippets.errors import UsageError
from snippets.foreign_files import PACKED, UNPACKED

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
