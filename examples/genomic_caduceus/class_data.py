"""Sequences with classes: what a data set of them is, and how one becomes of files."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy
import torch

from examples.genomic_caduceus.class_files import Parts, read_parts
from examples.genomic_caduceus.duplicates import Duplicates, find_duplicates
from examples.genomic_caduceus.labelled_files import WHOLE
from examples.genomic_caduceus.tokens import Replaced
from examples.programs.array_files import check_memory
from snippets.errors import UsageError
from snippets.foreign_files import PACKED, UNPACKED

HELD_OUT = 0.1  # of the training data without a validation set, and for the test of one file


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
class Findings:
    """What was found in the files of a data set."""

    lengths: numpy.ndarray  # letters of each sequence before any was cut, int64 (sequences,)
    cut: int  # sequences, to the length of the data set
    left_out: int  # rows without a sequence or a label
    replaced: Replaced
    duplicates: Duplicates


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
    findings: Findings | None = None  # of files

    @property
    def length(self) -> int:
        """Return the number of tokens of a sequence, including padding."""
        return self.train.tokens.shape[1]


def file_data(path: Path, length: int | None, seed: int, reference: str | None = None) -> ClassData:
    """Return the data set in a folder or file.

    Without a validation set, a tenth of the training data is held out; of a single file, another tenth is the
    test. The seed chooses them. `reference` names the genomes, for a data set of places. Raises UsageError.
    """
    data = read_parts(path, reference)
    parts = data.parts.values()
    lengths = numpy.concatenate([part.lengths_array() for part in parts])
    longest = int(lengths.max())
    length = min(length or longest, longest)
    check_padding(path, lengths, length)
    labelled = {}
    for name, part in data.parts.items():
        labelled[name] = Labelled(part.padded(length), part.class_numbers())
        part.tokens.clear()  # all copies together would take more memory than was checked
    train, val, test = split(path, labelled, seed)
    replaced = Replaced()
    for part in parts:
        replaced.add(part.replaced)
    findings = Findings(
        lengths,
        int((lengths > length).sum()),
        sum(part.left_out for part in parts),
        replaced,
        find_duplicates((train, val, test)),
    )
    source = "; ".join([str(path), *notes(data, findings, length)])
    return ClassData(path.name, source, tuple(data.names), train, val, test, findings=findings)


def split(path: Path, parts: dict[str, Labelled], seed: int) -> tuple[Labelled, Labelled, Labelled]:
    """Return training, validation and test sequences of the parts that there are. Raises UsageError."""
    if "val" in parts:
        return parts["train"], parts["val"], parts["test"]
    whole = parts[WHOLE] if WHOLE in parts else parts["train"]
    shares = 2 if WHOLE in parts else 1
    held_out = max(1, round(HELD_OUT * len(whole)))
    if len(whole) <= shares * held_out:
        raise UsageError(f"{path} has {len(whole)} sequences to learn from; it takes at least {shares + 1}")
    order = torch.randperm(len(whole), generator=torch.Generator().manual_seed(seed))
    kept = whole.rows(order[shares * held_out :].sort().values)
    test = whole.rows(order[held_out : 2 * held_out].sort().values) if WHOLE in parts else parts["test"]
    return kept, whole.rows(order[:held_out].sort().values), test


def notes(data: Parts, findings: Findings, length: int) -> Iterable[str]:
    """Yield what was done to the sequences of files, in words."""
    if data.note:
        yield data.note
    if WHOLE in data.parts:
        yield "split by the seed"
    if findings.cut:
        yield f"{findings.cut:,} sequences were cut to their first {length:,} letters"
    if findings.left_out:
        yield f"left out, without a sequence or a label: {findings.left_out:,}"
    if replaced := findings.replaced.note():
        yield replaced


def check_padding(path: Path, lengths: numpy.ndarray, length: int) -> None:
    """Raise UsageError when padding to one long sequence would multiply the size of the data."""
    padded = len(lengths) * length
    if padded > max(UNPACKED, PACKED * int(lengths.sum())):
        raise UsageError(
            f"{path}: one of its {len(lengths):,} sequences has {length:,} letters, and all are padded "
            "to that; cut it with dataset.max_length=1024"
        )
    check_memory(path, "its padded sequences take", 3 * padded)  # with copies while they are split
