"""Labelled sequences in files: folders of classes, or intervals of a genome."""

import csv
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy

from examples.genomic_caduceus.genome import read_fasta
from examples.genomic_caduceus.tokens import LETTERS, letters, no_base, other_strand
from snippets.errors import UsageError
from snippets.foreign_files import UNPACKED, lines_of, read_bytes

LARGEST = 1 << 24  # bytes of a sequence
SPLITS = ("train", "test")


@dataclass(frozen=True)
class Labelled:
    """Sequences of a split with their class indices."""

    sequences: list[str]
    classes: list[int]


# --8<-- [start:class_names]
def same_classes(folder: Path, classes_in: Callable[[Path], list[str]]) -> list[str]:
    """Return the classes of a data set in alphabetical order, which defines their indices.

    A folder listing has no defined order and may contain files such as .DS_Store, so without sorting, train
    and test could get different indices. Raises UsageError.
    """
    found = {}
    for split in SPLITS:
        if not (folder / split).is_dir():
            raise UsageError(f"{folder} has no folder {split}; a data set has train and test")
        found[split] = sorted(classes_in(folder / split))
    if found["train"] != found["test"]:
        only = sorted(set(found["train"]) ^ set(found["test"]))[0]
        raise UsageError(f"{folder}: the class {only} is in only one of train and test")
    if len(found["train"]) < 2:
        raise UsageError(f"{folder}/train has {len(found['train'])} classes; it takes at least 2")
    return found["train"]


def class_names(folder: Path) -> list[str]:
    """Return the classes of a data set whose splits have a folder for each. Raises UsageError."""

    def folders_in(split: Path) -> list[str]:
        return [entry.name for entry in split.iterdir() if entry.is_dir() and entry.name[0] != "."]

    return same_classes(folder, folders_in)


# --8<-- [end:class_names]
def read_split(folder: Path, names: list[str]) -> Labelled:
    """Return the sequences in a folder of a split, by class and by file name. Raises UsageError."""
    sequences, classes = [], []
    for number, name in enumerate(names):
        files = sorted(path for path in (folder / name).glob("*.txt") if path.name[0] != ".")
        if not files:
            raise UsageError(f"{folder / name} holds no sequence (.txt)")
        for path in files:
            try:
                text = read_bytes(path, LARGEST).decode("ascii", "replace").strip()
            except OSError as error:
                raise UsageError(f"cannot read {path}: {error.strerror}") from None
            if not text:
                raise UsageError(f"{path} is empty")
            if other := text.strip(LETTERS):
                raise UsageError(f"{path}: {no_base(other[0])}")
            sequences.append(text)
            classes.append(number)
    return Labelled(sequences, classes)


HEADER = ("id", "region", "start", "end", "strand")
SUFFIX = ".csv.gz"
MOST_ROWS = 2_000_000  # of a table; each takes 400 bytes


class Place(NamedTuple):
    """The interval of a sequence: from `start`, counted from 0, to before `end`; - is the other strand."""

    region: str
    start: int
    end: int
    strand: str
    source: str  # file and line, for errors


def holds_intervals(folder: Path) -> bool:
    """Return whether a folder contains tables of intervals instead of sequences."""
    return (folder / "metadata.yaml").exists() or any((folder / "train").glob(f"*{SUFFIX}"))


def read_intervals(folder: Path, reference: Path | None) -> tuple[list[str], dict[str, Labelled]]:
    """Return the names of the classes, and the sequences of both splits, as for a folder of texts.

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
    tables = [rows for classes in places.values() for rows in classes]
    regions = {place.region for rows in tables for place in rows}
    genome = read_fasta(reference, lambda name: not regions.isdisjoint(also_called(name)))
    length = sum(place.end - place.start for rows in tables for place in rows)
    if length > max(UNPACKED, sum(map(len, genome.values()))):  # rows may repeat one interval many times
        raise UsageError(f"{folder}: its sequences have {length:,} letters, more than {reference}")
    genome = {other: tokens for name, tokens in genome.items() for other in also_called(name)} | genome
    found = {}
    for split, classes in places.items():
        sequences = [sequence_at(place, genome, reference) for rows in classes for place in rows]
        numbers = [number for number, rows in enumerate(classes) for _ in rows]
        found[split] = Labelled(sequences, numbers)
    return names, found


def tables_in(folder: Path) -> list[str]:
    """Return the names of the classes with a table in the folder of a split."""
    found = folder.glob(f"*{SUFFIX}")
    return [path.name.removesuffix(SUFFIX) for path in found if path.name[0] != "."]


def also_called(name: str) -> set[str]:
    """Return the names that intervals may use for a sequence of a genome.

    Ensembl's genomes use 1 for chr1, and its transcripts have a version after a point.
    """
    return {name, f"chr{name}", name.partition(".")[0]}


def read_table(path: Path) -> Iterator[Place]:
    """Yield the rows of a table. Raises UsageError, also when there is none."""
    try:
        rows = csv.reader((line.decode() for line in lines_of(path)), strict=True)
        header = next(rows, [])
        if tuple(header) != HEADER:
            raise UsageError(f"{path} begins with {','.join(header)!r:.60}, not with {','.join(HEADER)}")
        line = 1
        for line, row in enumerate(rows, 2):
            if line > MOST_ROWS:
                raise UsageError(f"{path}: more than {MOST_ROWS:,} rows are not read")
            yield place_in(row, f"{path}, line {line}")
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        reason = getattr(error, "strerror", None) or f"it is damaged or no compressed table ({error})"
        raise UsageError(f"cannot read {path}: {reason}") from None
    if line == 1:
        raise UsageError(f"{path} holds no sequence")


def place_in(row: list[str], source: str) -> Place:
    """Return the interval in a row. Raises UsageError."""
    if len(row) != len(HEADER):
        raise UsageError(f"{source}: {len(row)} values; it takes {len(HEADER)}: {', '.join(HEADER)}")
    _, region, start, end, strand = row
    if not all(number.isascii() and number.isdigit() and len(number) < 16 for number in (start, end)):
        raise UsageError(f"{source}: start and end must be whole numbers, not {start!r:.20} and {end!r:.20}")
    if strand not in ("+", "-", ""):
        raise UsageError(f"{source}: the strand is {strand!r:.20}; it must be +, - or empty")
    return Place(region, int(start), int(end), strand, source)


def sequence_at(place: Place, genome: dict[str, numpy.ndarray], reference: Path) -> str:
    """Return the letters of an interval. Raises UsageError."""
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
