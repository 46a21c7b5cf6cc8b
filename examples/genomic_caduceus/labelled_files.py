"""Labelled sequences in one file: a table with the columns sequence and label, or FASTA with labels."""

import re
from pathlib import Path

import numpy
import pyarrow
import pyarrow.compute as compute

from examples.genomic_caduceus.fasta import SUFFIXES, Record, is_fasta, records_of, tokens_of
from examples.genomic_caduceus.sequences import Classes, Sequences
from examples.genomic_caduceus.tokens import NoBase, Replaced, encode
from examples.programs.array_files import check_memory
from examples.programs.tables import Table, is_table, open_table
from snippets.errors import UsageError, one_line

SEQUENCE, LABEL = ("sequence", "seq"), ("label",)  # names of columns, in any case
DNA = re.compile(r"[ACGTUN]{8,}", re.IGNORECASE)
OF_HEADER = re.compile(r"(?:^|\s)label[=:](\S+)|\|([^|\s]+)$")  # >id label=1, >id|1
WHOLE = re.compile(r"^(-?\d+)\.0*$")  # 1.0, as pandas writes the class 1 beside a missing one
MOST_CLASSES = 1000


def read_labelled(path: Path, into: Sequences, classes: Classes) -> None:
    """Add the sequences of a file, and the names of its classes. Raises UsageError."""
    if is_fasta(path):
        for record in records_of(path):
            tokens = tokens_of(path, record, into.replaced)
            label = label_of(path, record)
            if len(tokens):
                into.add(tokens, number_of(classes, label, path))
                check_size(path, into)
            else:
                into.left_out += 1
        return
    table = open_labelled(path)
    before = 0
    for part in table.batches([column(table, SEQUENCE), column(table, LABEL)]):
        add_rows(part, table, before, into, classes)
        before += len(part)
        check_size(path, into)


def label_in(header: str) -> str | None:
    """Return the label in a header of FASTA: >id|label, as the Nucleotide Transformer has it, or label=."""
    found = OF_HEADER.search(header)
    return found and (found[1] or found[2])


def label_of(path: Path, record: Record) -> str:
    """Return the label in the header of a record. Raises UsageError."""
    label = label_in(record.header)
    if label is None:
        raise UsageError(
            f"{path}, line {record.line}: {one_line('>' + record.header)!r:.60} has no label; write it as "
            f">id|1 or >id label=1 (a genome is for pretrain.py: data={path})"
        )
    return label


def number_of(classes: Classes, name: str, path: Path) -> int:
    """Return the number of a class, and add one that is new. Raises UsageError for too many."""
    name = WHOLE.sub(r"\1", name)
    number = classes.setdefault(name, len(classes))
    if number >= MOST_CLASSES:
        raise UsageError(
            f"{path}: label has more than {MOST_CLASSES:,} values, such as {name!r:.40}; it takes classes"
        )
    return number


def open_labelled(path: Path) -> Table:
    """Open a table of sequences. Raises UsageError, also when it has no header."""
    if not is_table(path):
        what = "a folder" if path.is_dir() else f"neither FASTA ({', '.join(SUFFIXES)}) nor a table (.csv, …)"
        raise UsageError(f"{path} is {what}; name a file of sequences")
    table = open_table(path, header=lambda cells: not any(map(DNA.fullmatch, cells)))
    if not table.has_header and any(map(DNA.fullmatch, first_cells(table))):
        raise UsageError(f"{path} has no header; its first line names the columns, such as sequence,label")
    return table


def first_cells(table: Table) -> list[str]:
    """Return the cells of the first row of a table."""
    part = next(table.batches(table.names), None)
    return [] if part is None or not len(part) else [str(column[0].as_py()) for column in part.columns]


def column(table: Table, wanted: tuple[str, ...]) -> str:
    """Return the name of the column that is called like one of `wanted`. Raises UsageError."""
    for name in table.names:
        if name.lower() in wanted:
            return name
    found = one_line(", ".join(table.names))
    raise UsageError(f"{table.path} has no column {' or '.join(wanted)}; its columns are {found:.200}")


def add_rows(part: pyarrow.RecordBatch, table: Table, before: int, into: Sequences, classes: Classes) -> None:
    """Add the rows of a part of a table, of which `before` rows were read. Raises UsageError."""
    texts, labels = (
        compute.ascii_trim_whitespace(found.cast(pyarrow.large_string())) for found in part.columns
    )
    there = compute.fill_null(
        compute.and_(*(compute.greater(compute.binary_length(found), 0) for found in (texts, labels))), False
    )
    rows = numpy.flatnonzero(there.to_numpy(zero_copy_only=False))
    into.left_out += len(part) - len(rows)
    if not len(rows):
        return
    if len(rows) < len(part):
        texts, labels = texts.filter(there), labels.filter(there)
    letters, ends = letters_of(texts)
    tokens = encoded(table, letters, ends, before + rows, into.replaced)
    found = labels.dictionary_encode()
    numbers = [number_of(classes, name, table.path) for name in found.dictionary.to_pylist()]
    into.add_many(tokens, numpy.diff(ends), numpy.array(numbers)[found.indices.to_numpy()])


def encoded(
    table: Table, letters: numpy.ndarray, ends: numpy.ndarray, rows: numpy.ndarray, replaced: Replaced
) -> numpy.ndarray:
    """Return the tokens of the letters of rows with these numbers in the table. Raises UsageError."""
    try:
        return encode(letters, replaced)
    except NoBase as error:
        row = int(numpy.searchsorted(ends, error.place, side="right")) - 1
        place = error.place - int(ends[row]) + 1
        again = letters[ends[row] : ends[row + 1]].tobytes().lower() in (b"sequence", b"seq")
        why = "the header once more; remove it" if again else f"place {place}: {error}"
        raise UsageError(f"{table.row(int(rows[row]))}, {why}") from None


def letters_of(texts: pyarrow.LargeStringArray) -> tuple[numpy.ndarray, numpy.ndarray]:
    """Return the bytes of all texts, uint8 (bytes,), and where they begin and the last ends, (texts + 1,)."""
    _, offsets, content = texts.buffers()
    ends = numpy.frombuffer(offsets, dtype=numpy.int64)[texts.offset : texts.offset + len(texts) + 1]
    return numpy.frombuffer(content, dtype=numpy.uint8)[ends[0] : ends[-1]], ends - ends[0]


def check_size(path: Path, sequences: Sequences) -> None:
    """Raise UsageError when the sequences read so far take more memory than this machine has."""
    check_memory(path, "its sequences take more than", 2 * len(sequences.tokens) + 16 * len(sequences))
