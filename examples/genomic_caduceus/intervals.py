"""Sequences that tables name by their places in one or several genomes."""

import csv
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import numpy
import yaml

from examples.genomic_caduceus.config_files import read_plain
from examples.genomic_caduceus.fasta import is_fasta
from examples.genomic_caduceus.genome import Genome, read_genome
from examples.genomic_caduceus.sequence_tables import SEQUENCE
from examples.genomic_caduceus.sequences import Sequences
from examples.genomic_caduceus.tokens import Replaced, other_strand
from examples.programs.command_line import expanded
from snippets.errors import UsageError, one_line
from snippets.foreign_files import UNPACKED, lines_of

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


Genomes = dict[Path, dict[str, numpy.ndarray]]  # the tokens of each sequence, by every name of it


def holds_intervals(folder: Path) -> bool:
    """Return whether a folder contains tables of intervals instead of sequences."""
    tables = sorted((folder / "train").glob(f"*{SUFFIX}"))
    return (folder / "metadata.yaml").exists() or (bool(tables) and not has_sequences(tables[0]))


def has_sequences(path: Path) -> bool:
    """Return whether the header of a table has a column of sequences; a damaged table has none."""
    try:
        cells = next(lines_of(path), b"").decode("utf-8-sig").strip().lower().split(",")
    except (OSError, UnicodeDecodeError):
        return False
    return not set(SEQUENCE).isdisjoint(cells)


def read_intervals(
    folder: Path, names: list[str], reference: str | None
) -> tuple[list[str], dict[str, Sequences]]:
    """Return the names of the classes, and the sequences of train and test.

    `reference` names the genomes: a FASTA file, several with commas, or a folder. Raises UsageError.
    """
    if reference is None:
        raise UsageError(
            f"{folder} says where its sequences are; name the genome that has them: dataset.reference=FILE.fa"
        )
    places = {
        part: [list(read_table(folder / part / f"{name}{SUFFIX}")) for name in names]
        for part in ("train", "test")
    }
    found = paths_in(reference)
    own = genomes_of_classes(folder, names, found)
    replaced = Replaced()
    genomes: Genomes = {}
    letters = 0
    for path in found:
        mine = [number for number, name in enumerate(names) if path in own[name]]
        regions = {place.region for part in places.values() for number in mine for place in part[number]}
        genome = read_regions(path, regions, replaced)
        letters += sum(map(len, genome.sequences.values()))
        genomes[path] = by_all_names(genome)
    length = sum(place.end - place.start for part in places.values() for rows in part for place in rows)
    if length > max(UNPACKED, letters):  # rows may repeat one interval many times
        raise UsageError(f"{folder}: its sequences have {length:,} letters, more than {reference}")
    parts = {}
    for part, classes in places.items():
        parts[part] = Sequences()
        for number, rows in enumerate(classes):
            having = {path: genomes[path] for path in own[names[number]]}
            for place in rows:
                parts[part].add(sequence_at(place, having, names[number]), number)
    parts["train"].replaced = replaced
    return names, parts


def paths_in(reference: str) -> list[Path]:
    """Return the files that `dataset.reference=` names: one, several with commas, or those in a folder.

    Raises UsageError.
    """
    path = expanded(reference)
    if path.is_dir():
        if not (files := sorted(filter(is_fasta, path.iterdir()))):
            raise UsageError(f"{path} holds no genome, a file such as genome.fa or genome.fa.gz")
        return files
    if path.exists() or "," not in reference:
        return [path]
    return [expanded(part) for part in dict.fromkeys(reference.split(","))]


def genomes_of_classes(folder: Path, names: list[str], paths: list[Path]) -> dict[str, list[Path]]:
    """Return the genomes in which the places of each class are.

    It is the file that metadata.yaml names for the class, or the one that is called like the class; without
    either, any of them. Raises UsageError.
    """
    called = {name: {name} for name in names}
    file = folder / "metadata.yaml"
    if len(paths) > 1 and file.exists():
        try:
            for name, facts in read_plain(file)["classes"].items():
                called.get(name, set()).add(stem(PurePosixPath(facts["url"]).name))
        except (OSError, ValueError, TypeError, KeyError, AttributeError, yaml.YAMLError) as error:
            reason = getattr(error, "strerror", None) or one_line(str(error))
            raise UsageError(f"cannot read {file}: {reason:.200}") from None
    return {name: [path for path in paths if stem(path.name) in called[name]] or paths for name in names}


def stem(name: str) -> str:
    """Return the name of a FASTA file without its endings."""
    return name.removesuffix(".gz").rpartition(".")[0]


def read_regions(path: Path, regions: set[str], replaced: Replaced) -> Genome:
    """Return the sequences of a genome that are among `regions`; add to `replaced`. Raises UsageError."""
    genome = read_genome(path, lambda name: not regions.isdisjoint(also_called(name)))
    replaced.add(genome.replaced)
    return genome


def by_all_names(genome: Genome) -> dict[str, numpy.ndarray]:
    """Return the tokens of each sequence by all of its names; the very name goes first."""
    found = genome.sequences
    return {other: tokens for name, tokens in found.items() for other in also_called(name)} | found


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


def sequence_at(place: Place, genomes: Genomes, name: str) -> numpy.ndarray:
    """Return the tokens of an interval of the class `name`. Raises UsageError."""
    having = [path for path, genome in genomes.items() if place.region in genome]
    if not having:
        files = " and ".join(map(str, genomes))
        raise UsageError(f"{place.source}: {files} has no sequence {place.region!r:.60}")
    if len(having) > 1:
        raise UsageError(
            f"{place.source}: {having[0]} and {having[1]} both have {place.region!r:.60}; call the "
            f"genome of the class {name} {name}.fa, and name it so in dataset.reference"
        )
    tokens = genomes[having[0]][place.region]
    if not place.start < place.end <= len(tokens):
        raise UsageError(
            f"{place.source}: {place.start:,} to {place.end:,} is no part of {place.region}, "
            f"which has {len(tokens):,} letters"
        )
    sequence = tokens[place.start : place.end]
    return other_strand(sequence) if place.strand == "-" else sequence
