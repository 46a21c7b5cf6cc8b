"""Sequences as places in a genome, as the genomic_benchmarks repository holds them.

A data set is a folder with {train,test}/<class>.csv.gz: where each sequence is, and on which strand. Their
letters are in another file, a genome in FASTA.
"""

import csv
import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy

from examples.genomic_caduceus.folders import SPLITS, Labelled, same_classes
from examples.genomic_caduceus.genome import read_fasta
from examples.genomic_caduceus.tokens import letters, other_strand
from snippets.framework.errors import UsageError

HEADER = ("id", "region", "start", "end", "strand")
SUFFIX = ".csv.gz"


class Place(NamedTuple):
    """Where a sequence is: from `start`, which counts from 0, to before `end`; - is the other strand."""

    region: str
    start: int
    end: int
    strand: str
    source: str  # file and line, for errors


def holds_intervals(folder: Path) -> bool:
    """Return whether a folder holds tables of intervals, and not the sequences themselves."""
    return (folder / "metadata.yaml").exists() or any((folder / "train").glob(f"*{SUFFIX}"))


def read_intervals(folder: Path, reference: Path | None) -> tuple[list[str], dict[str, Labelled]]:
    """Return the names of the classes, and the sequences of both splits, as a folder of texts gives them.

    `reference` is the genome. Raises UsageError.
    """
    if reference is None:
        raise UsageError(
            f"{folder} says where its sequences are; name the genome that has them: dataset.reference=FILE.fa"
        )
    names = same_classes(folder, tables_in)
    places = {
        split: [list(read_table(folder / split / f"{name}{SUFFIX}")) for name in names] for split in SPLITS
    }
    regions = {place.region for classes in places.values() for rows in classes for place in rows}
    genome = read_fasta(reference, lambda name: not regions.isdisjoint(also_called(name)))
    genome = {other: tokens for name, tokens in genome.items() for other in also_called(name)} | genome
    found = {}
    for split, classes in places.items():
        sequences = [sequence_at(place, genome, reference) for rows in classes for place in rows]
        numbers = [number for number, rows in enumerate(classes) for _ in rows]
        found[split] = Labelled(sequences, numbers)
    return names, found


def tables_in(folder: Path) -> list[str]:
    """Return the names of the classes that have a table in the folder of a split."""
    found = folder.glob(f"*{SUFFIX}")
    return [path.name.removesuffix(SUFFIX) for path in found if path.name[0] != "."]


def also_called(name: str) -> set[str]:
    """Return the names that intervals have for a sequence of a genome.

    Ensembl's genomes say 1 where the intervals say chr1, and its transcripts have a version behind a point.
    """
    return {name, f"chr{name}", name.partition(".")[0]}


def read_table(path: Path) -> Iterator[Place]:
    """Yield the rows of a table, of which there is at least one. Raises UsageError."""
    try:
        with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
            rows = csv.reader(file, strict=True)
            header = next(rows, [])
            if tuple(header) != HEADER:
                raise UsageError(f"{path} begins with {','.join(header)!r:.60}, not with {','.join(HEADER)}")
            line = 1
            for line, row in enumerate(rows, 2):
                yield place_in(row, f"{path}, line {line}")
    except (OSError, EOFError, zlib.error, UnicodeDecodeError, csv.Error) as error:
        reason = getattr(error, "strerror", None) or f"it is damaged or no compressed table ({error})"
        raise UsageError(f"cannot read {path}: {reason}") from None
    if line == 1:
        raise UsageError(f"{path} holds no sequence")


def place_in(row: list[str], source: str) -> Place:
    """Return what a row says. Raises UsageError."""
    if len(row) != len(HEADER):
        raise UsageError(f"{source}: {len(row)} values; it takes {len(HEADER)}: {', '.join(HEADER)}")
    _, region, start, end, strand = row
    if not all(number.isascii() and number.isdigit() and len(number) < 16 for number in (start, end)):
        raise UsageError(f"{source}: start and end must be whole numbers, not {start!r:.20} and {end!r:.20}")
    if strand not in ("+", "-", ""):
        raise UsageError(f"{source}: the strand is {strand!r:.20}; it must be +, - or empty")
    return Place(region, int(start), int(end), strand, source)


def sequence_at(place: Place, genome: dict[str, numpy.ndarray], reference: Path) -> str:
    """Return the letters at a place. Raises UsageError."""
    if place.region not in genome:
        raise UsageError(f"{place.source}: {reference} has no sequence {place.region!r:.60}")
    tokens = genome[place.region]
    if not place.start < place.end <= len(tokens):
        raise UsageError(
            f"{place.source}: {place.start:,} to {place.end:,} is no part of {place.region}, "
            f"which has {len(tokens):,} letters"
        )
    sequence = letters(tokens[place.start : place.end])
    return other_strand(sequence) if place.strand == "-" else sequence
