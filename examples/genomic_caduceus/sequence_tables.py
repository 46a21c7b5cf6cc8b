"""Tables of sequences: which columns have the letters and the labels, and the letters as tokens."""

import re
import shlex
from itertools import pairwise
from pathlib import Path

import numpy
import pyarrow
import pyarrow.compute as compute

from examples.genomic_caduceus.fasta import SUFFIXES
from examples.genomic_caduceus.tokens import NoBase, Replaced, encode
from examples.programs.tables import Table, is_table, open_table
from snippets.errors import UsageError, one_line

SEQUENCE, LABEL = ("sequence", "seq", "序列"), ("label", "标签", "类别")  # names of columns, in any case
DNA = re.compile(r"[ACGTUNRYSWKMBDHV]{8,}", re.IGNORECASE)
PLACES = (".bed", ".narrowpeak", ".broadpeak")
CURE = "no header; its first line names the columns, such as sequence,label or label,name,sequence"
FEW = 5  # rows with each label, when a column without a name is taken for the labels


def holds_places(path: Path) -> bool:
    """Return whether the name of a file is one of BED, places in a genome, also compressed."""
    return path.name.lower().removesuffix(".gz").endswith(PLACES) and path.name[0] != "."


def refuse_places(path: Path, genome: Path | str | None = None) -> None:
    """Raise UsageError with the command that makes sequences of places."""
    stem = path.name.removesuffix(".gz").rpartition(".")[0]
    bed, fasta = shlex.quote(str(path)), shlex.quote(f"classes/{stem}.fa")
    letters = shlex.quote(str(genome or "genome.fa"))
    raise UsageError(
        f"{path} gives places, not letters; cut them out: mkdir -p classes; bedtools getfasta -s "
        f"-fi {letters} -bed {bed} -fo {fasta}; so for each class, then name the folder: data=classes"
    )


def open_sequences(path: Path) -> Table:
    """Open a table of sequences. Raises UsageError."""
    if holds_places(path):
        refuse_places(path)
    if not is_table(path):
        what = "a folder" if path.is_dir() else f"neither FASTA ({', '.join(SUFFIXES)}) nor a table (.csv, …)"
        raise UsageError(f"{path} is {what}; name a file of sequences")
    return open_table(path, header=lambda cells: not any(map(DNA.fullmatch, cells)))


def column(table: Table, wanted: tuple[str, ...]) -> str:
    """Return the name of the column that is called like one of `wanted`. Raises UsageError."""
    for name in table.names:
        if name.lower() in wanted:
            return name
    found = one_line(", ".join(table.names))
    raise UsageError(
        f"{table.path} has no column {wanted[0]}; its columns are {found:.200}; rename them "
        "to sequence and label"
    )


def columns(table: Table) -> tuple[str, str | None]:
    """Return the columns of sequences and, where it is clear, of labels. Raises UsageError.

    Without a header, they are the column of letters, and the one whose values repeat most.
    """
    part = next(table.batches(table.names), None) if table.numbered else None
    if part is None:
        return column(table, SEQUENCE), next((name for name in table.names if name.lower() in LABEL), None)
    cells = {name: trimmed(found).to_pylist() for name, found in zip(table.names, part.columns, strict=True)}
    letters = [name for name in table.names if DNA.fullmatch(cells[name][0])]
    if len(letters) != 1:
        raise UsageError(f"{table.path} has {CURE}")
    counts = {name: len(set(found)) for name, found in cells.items() if name not in letters}
    label = min(counts, key=counts.__getitem__, default=None)
    return letters[0], label if label and FEW * counts[label] <= len(part) else None


def label_of(table: Table, label: str | None) -> str:
    """Return the column of labels that `columns` found. Raises UsageError for none."""
    if label is None and table.numbered:
        raise UsageError(f"{table.path} has {CURE}")
    return label or column(table, LABEL)


def trimmed(found: pyarrow.Array) -> pyarrow.LargeStringArray:
    """Return texts without blanks around them; what is missing is empty."""
    return compute.ascii_trim_whitespace(compute.fill_null(found.cast(pyarrow.large_string()), ""))


def tokens_of_texts(
    table: Table, texts: pyarrow.LargeStringArray, rows: numpy.ndarray, replaced: Replaced
) -> tuple[numpy.ndarray, numpy.ndarray]:
    """Return the tokens of texts, uint8, and where each begins and the last ends, (texts + 1,).

    `rows` are their numbers in the table. Overlapping k-mers are joined. Raises UsageError.
    """
    if compute.any(compute.match_substring(texts, " ")).as_py():
        texts = pyarrow.array([joined(text, replaced) for text in texts.to_pylist()], pyarrow.large_string())
    letters, ends = letters_of(texts)
    try:
        return encode(letters, replaced), ends
    except NoBase as error:
        row = int(numpy.searchsorted(ends, error.place, side="right")) - 1
        place = error.place - int(ends[row]) + 1
        again = letters[ends[row] : ends[row + 1]].tobytes().lower() in (b"sequence", b"seq")
        why = "the header once more; remove it" if again else f"place {place}: {error}"
        raise UsageError(f"{table.row(int(rows[row]))}, {why}") from None


def joined(text: str, replaced: Replaced) -> str:
    """Return the sequence that overlapping k-mers, as DNABERT has them, were made of; else the same text."""
    words = text.split()
    if len(words) < 2 or any(first[1:] != second[:-1] for first, second in pairwise(words)):
        return text
    replaced.kmers[len(words[0])] += 1
    return words[0] + "".join(word[-1] for word in words[1:])


def letters_of(texts: pyarrow.LargeStringArray) -> tuple[numpy.ndarray, numpy.ndarray]:
    """Return the bytes of all texts, uint8 (bytes,), and where they begin and the last ends, (texts + 1,)."""
    _, offsets, content = texts.buffers()
    ends = numpy.frombuffer(offsets, dtype=numpy.int64)[texts.offset : texts.offset + len(texts) + 1]
    return numpy.frombuffer(content, dtype=numpy.uint8)[ends[0] : ends[-1]], ends - ends[0]
