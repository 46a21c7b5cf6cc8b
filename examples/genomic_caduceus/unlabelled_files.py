"""Sequences of a file in parts, to classify them: with their names and, where the file has them, labels."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy
import pyarrow
import pyarrow.compute as compute

from examples.genomic_caduceus.fasta import is_fasta, records_of, tokens_of
from examples.genomic_caduceus.labelled_files import (
    LABEL,
    SEQUENCE,
    WHOLE,
    column,
    encoded,
    label_in,
    letters_of,
    open_labelled,
)
from examples.genomic_caduceus.sequences import Sequences
from examples.genomic_caduceus.tokens import Replaced

NAME = ("id", "name", "sequence_id")  # columns that name a sequence; the first of a table
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
        self.labels.append(None if label is None else WHOLE.sub(r"\1", label))
        self.sequences.add(tokens[:length])
        self.cut += len(tokens) > length


def parts_of(path: Path, length: int, most: int, replaced: Replaced) -> Iterator[Some]:
    """Yield the sequences of FASTA or of a table, at most `most` at a time. Raises UsageError."""
    most = max(1, min(most, LETTERS // length))
    some = Some()
    for name, label, tokens in (of_fasta if is_fasta(path) else of_table)(path, replaced):
        some.add(name, label, tokens, length)
        if len(some.names) == most:
            yield some
            some = Some()
    if some.names:
        yield some


Found = Iterator[tuple[str, str | None, numpy.ndarray]]


def of_fasta(path: Path, replaced: Replaced) -> Found:
    """Yield name, label and tokens of each record. Raises UsageError."""
    for record in records_of(path):
        yield record.name, label_in(record.header), tokens_of(path, record, replaced)


def of_table(path: Path, replaced: Replaced) -> Found:
    """Yield name (or the number of the row, from 1), label and tokens of each row. Raises UsageError."""
    table = open_labelled(path)
    lower = {name.lower(): name for name in reversed(table.names)}
    wanted = [column(table, SEQUENCE)]
    extra = [next((lower[name] for name in names if name in lower), None) for names in (NAME, LABEL)]
    wanted += [name for name in extra if name]
    before = 0
    for part in table.batches(wanted):
        columns = dict(zip(wanted, part.columns, strict=True))
        texts = compute.fill_null(columns[wanted[0]].cast(pyarrow.large_string()), "")
        letters, ends = letters_of(compute.ascii_trim_whitespace(texts))
        rows = numpy.arange(before, before + len(part))
        tokens = encoded(table, letters, ends, rows, replaced)
        names, labels = (columns[name].to_pylist() if name else None for name in extra)
        for row in range(len(part)):
            name = str(before + row + 1) if names is None or names[row] is None else str(names[row])
            label = None if labels is None or labels[row] is None else str(labels[row]).strip()
            yield name, label, tokens[ends[row] : ends[row + 1]]
        before += len(part)
