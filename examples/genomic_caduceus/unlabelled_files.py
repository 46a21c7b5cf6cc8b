"""Sequences of a file in parts, to classify them: with their names and, where the file has them, labels."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy

from examples.genomic_caduceus.class_files import by_class, read_one
from examples.genomic_caduceus.fasta import is_fasta, records_of, tokens_of
from examples.genomic_caduceus.header_labels import label_in
from examples.genomic_caduceus.labelled_files import NUMBER
from examples.genomic_caduceus.sequence_tables import (
    columns,
    open_sequences,
    tokens_of_texts,
    trimmed,
)
from examples.genomic_caduceus.sequences import Sequences
from examples.genomic_caduceus.tokens import Replaced
from snippets.errors import UsageError

NAME = ("id", "name", "sequence_id", "编号", "名称")  # columns that name a sequence; the first of a table
LETTERS = 1 << 22  # of the sequences of a part


@dataclass
class Some:
    """Some sequences of a file, cut to the length of the network, with their names and labels."""

    names: list[str] = field(default_factory=list)
    labels: list[str | None] = field(default_factory=list)
    sequences: Sequences = field(default_factory=Sequences)
    cut: int = 0

    def add(self, name: str, label: str | None, tokens: numpy.ndarray, length: int) -> None:
        """Add the first `length` tokens of a sequence."""
        self.names.append(name)
        self.labels.append(None if label is None else NUMBER.sub(r"\1", label))
        self.sequences.add(tokens[:length])
        self.cut += len(tokens) > length


def parts_of(path: Path, length: int, most: int, replaced: Replaced) -> Iterator[Some]:
    """Yield the sequences of FASTA or of a table, at most `most` at a time. Raises UsageError."""
    most = max(1, min(most, LETTERS // length))
    some = Some()
    for name, label, tokens in found_in(path, replaced):
        some.add(name, label, tokens, length)
        if len(some.names) == most:
            yield some
            some = Some()
    if some.names:
        yield some


Found = Iterator[tuple[str, str | None, numpy.ndarray]]


def found_in(path: Path, replaced: Replaced) -> Found:
    """Yield name, label and tokens of each sequence in a file or folder. Raises UsageError."""
    if path.is_dir():
        return of_folder(path, replaced)
    return (of_fasta if is_fasta(path) else of_table)(path, replaced)


def of_folder(folder: Path, replaced: Replaced) -> Found:
    """Yield the sequences of files .txt, a folder of them per class, or a FASTA file per class.

    Raises UsageError.
    """
    files = sorted(path for path in folder.glob("*.txt") if path.name[0] != ".")
    classes = {path: path.parent.name for path in sorted(folder.glob("*/*.txt")) if path.name[0] != "."}
    if fasta := by_class(filter(is_fasta, folder.iterdir())):
        for name, path in fasta.items():
            for record in records_of(path):
                yield record.name, name, tokens_of(path, record, replaced)
    elif files or classes:
        for path in files or classes:
            yield path.stem, classes.get(path), read_one(path, replaced)
    else:
        raise UsageError(f"{folder} is a folder without .txt or FASTA in it; name a file of sequences")


def of_fasta(path: Path, replaced: Replaced) -> Found:
    """Yield name, label and tokens of each record. Raises UsageError."""
    for record in records_of(path):
        yield record.name, label_in(record.header).label, tokens_of(path, record, replaced)


def of_table(path: Path, replaced: Replaced) -> Found:
    """Yield name (or the number of the row, from 1), label and tokens of each row. Raises UsageError."""
    table = open_sequences(path)
    lower = {name.lower(): name for name in reversed(table.names)}
    sequence, label_column = columns(table)
    extra = [next((lower[name] for name in NAME if name in lower), None), label_column]
    wanted = [sequence, *filter(None, extra)]
    before = 0
    for part in table.batches(wanted):
        found = dict(zip(wanted, part.columns, strict=True))
        rows = numpy.arange(before, before + len(part))
        tokens, ends = tokens_of_texts(table, trimmed(found[sequence]), rows, replaced)
        names, labels = (found[name].to_pylist() if name else None for name in extra)
        for row in range(len(part)):
            name = str(before + row + 1) if names is None or names[row] is None else str(names[row])
            label = None if labels is None or labels[row] is None else str(labels[row]).strip()
            yield name, label, tokens[ends[row] : ends[row + 1]]
        before += len(part)
