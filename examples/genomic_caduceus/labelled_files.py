"""Labelled sequences in one file: a table with the columns sequence and label, or FASTA with labels."""

import re
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import numpy
import pyarrow
import pyarrow.compute as compute

from examples.genomic_caduceus.fasta import is_fasta, records_of, tokens_of
from examples.genomic_caduceus.header_labels import HeaderLabels
from examples.genomic_caduceus.sequence_tables import (
    columns,
    label_of,
    open_sequences,
    tokens_of_texts,
    trimmed,
)
from examples.genomic_caduceus.sequences import Classes, Sequences
from examples.programs.array_files import check_memory
from examples.programs.tables import Table
from snippets.errors import UsageError

NUMBER = re.compile(r"^(-?\d+)\.0*$")  # 1.0, as pandas writes the class 1 beside a missing one
MOST_CLASSES = 1000
WHOLE = "all"  # the only part of a data set that is not split


@dataclass
class LabelledParts:
    """The parts of a data set that were read so far, and its classes by the order in which they were met."""

    parts: dict[str, Sequences] = field(default_factory=lambda: defaultdict(Sequences))
    classes: Classes = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def read(self, path: Path, part: str) -> None:
        """Add the sequences of a file to `part`, or to the one that their headers name. Raises UsageError."""
        (self.read_records if is_fasta(path) else self.read_table)(path, part)

    def read_records(self, path: Path, part: str) -> None:
        """Add the records of FASTA. Raises UsageError."""
        labels = HeaderLabels(path)
        self.parts[part]  # it is there, even if no header names it
        for record in records_of(path):
            label, named = labels.read(record)
            if named and part not in (WHOLE, named):
                raise UsageError(f"{path}, line {record.line}: the header says {named}, the file {part}")
            into = self.parts[named or part]
            tokens = tokens_of(path, record, into.replaced)
            if len(tokens):
                into.add(tokens, number_of(self.classes, str(label), path))
                check_size(path, into)
            else:
                into.left_out += 1
        labels.check()

    def read_table(self, path: Path, part: str) -> None:
        """Add the rows of a table. Raises UsageError."""
        table, before = open_sequences(path), 0
        sequence, label = columns(table)
        wanted = [sequence, label_of(table, label)]
        if table.numbered:
            self.notes.append(f"no header: column {sequence} as sequence, {wanted[1]} as label")
        for rows in table.batches(wanted):
            add_rows(rows, table, before, self.parts[part], self.classes)
            before += len(rows)
            check_size(path, self.parts[part])


def number_of(classes: Classes, name: str, path: Path) -> int:
    """Return the number of a class, and add one that is new. Raises UsageError for too many."""
    name = NUMBER.sub(r"\1", name)
    number = classes.setdefault(name, len(classes))
    if number >= MOST_CLASSES:
        raise UsageError(
            f"{path}: label has more than {MOST_CLASSES:,} values, such as {name!r:.40}; it takes classes"
        )
    return number


def add_rows(part: pyarrow.RecordBatch, table: Table, before: int, into: Sequences, classes: Classes) -> None:
    """Add the rows of a part of a table, of which `before` rows were read. Raises UsageError."""
    texts, labels = map(trimmed, part.columns)
    there = compute.and_(*(compute.greater(compute.binary_length(found), 0) for found in (texts, labels)))
    rows = numpy.flatnonzero(there.to_numpy(zero_copy_only=False))
    into.left_out += len(part) - len(rows)
    if not len(rows):
        return
    if len(rows) < len(part):
        texts, labels = texts.filter(there), labels.filter(there)
    tokens, ends = tokens_of_texts(table, texts, before + rows, into.replaced)
    found = labels.dictionary_encode()
    numbers = [number_of(classes, name, table.path) for name in found.dictionary.to_pylist()]
    into.add_many(tokens, numpy.diff(ends), numpy.array(numbers)[found.indices.to_numpy()])


def check_size(path: Path, sequences: Sequences) -> None:
    """Raise UsageError when the sequences read so far take more memory than this machine has."""
    check_memory(path, "its sequences take more than", 2 * len(sequences.tokens) + 16 * len(sequences))
