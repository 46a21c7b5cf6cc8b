"""Folders without train and test: the files in them that are a data set, which the seed splits."""

import shlex
from itertools import islice
from pathlib import Path

from examples.genomic_caduceus.fasta import is_fasta, records_of
from examples.genomic_caduceus.sequence_tables import holds_places, open_sequences, refuse_places, trimmed
from examples.programs.tables import is_table
from snippets.errors import UsageError
from snippets.foreign_files import lines_of

COMPARED = 1000  # names of sequences, with those in a table
JOIN = (
    """awk -F'{separator}' 'NR == FNR {{label[${id}] = ${label}; next}} /^>/ {{split(substr($0, 2), word, """
    """" "); kept = (word[1] in label); if (kept) print ">" word[1] "|" label[word[1]]; next}} kept' """
    "{table} {fasta} > labelled.fa"
)


def loose_files(folder: Path) -> tuple[list[Path], str]:
    """Return one file with labels, or a FASTA file per class, and a note about others. Raises UsageError."""
    files = sorted(path for path in folder.iterdir() if path.is_file() and path.name[0] != ".")
    fasta, tables = list(filter(is_fasta, files)), list(filter(is_table, files))
    if places := list(filter(holds_places, files)):
        refuse_places(places[0], fasta[0] if fasta else None)
    if len(fasta) == 1 and tables:
        raise UsageError(
            f"{fasta[0]} and {tables[0].name}: labels are in the headers, >id|label, or in a table with the "
            f"columns sequence and label{joined(fasta[0], tables[0])}"
        )
    used = fasta or tables
    if not used or (not fasta and len(tables) > 1):
        hint = f"; to split one file by the seed, name it: data={tables[0]}" if tables else ""
        raise UsageError(f"{folder} has no folder train; a data set has train and test{hint}")
    unused = [path.name for path in files if path not in used]
    return used, f"{', '.join(unused)[:200]} not read" if unused else ""


def joined(fasta: Path, table: Path) -> str:
    """Return the command that puts labels of a table into headers, if the table has their names."""
    opened = open_sequences(table)
    part = next(opened.batches(opened.names), None)
    if part is None:
        return ""
    names = {record.name for record in islice(records_of(fasta), COMPARED)}
    cells = [trimmed(found).to_pylist() for found in part.columns]
    shared = [len(names & set(found)) for found in cells]
    id_column = shared.index(max(shared))
    counts = {n: len(set(found)) for n, found in enumerate(cells) if n != id_column and len(set(found)) > 1}
    if not max(shared) or not counts:
        return ""
    command = JOIN.format(
        separator="\\t" if b"\t" in next(lines_of(table)) else ",",
        id=id_column + 1,
        label=min(counts, key=counts.__getitem__) + 1,
        table=shlex.quote(str(table)),
        fasta=shlex.quote(str(fasta)),
    )
    return f"; if {opened.names[min(counts, key=counts.__getitem__)]!r:.60} is the class: {command}"
