"""Windows of a genome in FASTA, such as hg38.fa: adjacent windows, or those of a BED file."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy

from examples.genomic_caduceus.fasta import records_of, tokens_of
from examples.genomic_caduceus.tokens import UNKNOWN_BASE, Replaced
from examples.programs.array_files import check_memory
from snippets.errors import UsageError
from snippets.foreign_files import lines_of

MOST_UNKNOWN = 0.1  # of the letters of a window; windows with more are left out
MOST = 2_000_000  # sequences, or intervals; each takes some hundred bytes
HELD_OUT = 20  # without intervals, one window in this number is held out


class Genome(NamedTuple):
    """The tokens of each sequence, uint8 (letters,), by its name, and what was replaced in them."""

    sequences: dict[str, numpy.ndarray]
    replaced: Replaced


def read_genome(path: Path, wanted: Callable[[str], bool] = lambda name: True) -> Genome:
    """Return the `wanted` sequences of a FASTA file, at a byte per base. Raises UsageError."""
    genome = Genome({}, Replaced())
    for record in records_of(path, wanted):
        if record.name in genome.sequences:
            raise UsageError(f"{path}, line {record.line}: there is another sequence {record.name}")
        if len(genome.sequences) == MOST:
            raise UsageError(f"{path}: more than {MOST:,} sequences are not read")
        genome.sequences[record.name] = tokens_of(path, record, genome.replaced)
    return genome


class Windows(NamedTuple):
    """Training and held-out windows, each (windows, length), uint8, and how many letters were replaced."""

    train: numpy.ndarray
    val: numpy.ndarray
    replaced: Replaced
    left_out: int  # windows with too many N, or at the end of a sequence


def read_windows(path: Path, length: int, intervals: Path | None) -> Windows:
    """Return windows of a genome. Raises UsageError."""
    genome = read_genome(path)
    if intervals is None:
        kept, left_out = [], 0
        while genome.sequences:  # each is freed when its windows were cut
            name = next(iter(genome.sequences))
            windows = in_a_row(genome.sequences.pop(name), length)
            known = (windows == UNKNOWN_BASE).mean(1) <= MOST_UNKNOWN
            left_out += len(known) - int(known.sum())
            kept.append(windows[known])
        windows = numpy.concatenate(kept)
        kept.clear()
        held_out = numpy.arange(len(windows)) % HELD_OUT == HELD_OUT - 1
        found = windows[~held_out], windows[held_out]
    else:
        parts, left_out = by_intervals(genome.sequences, length, intervals)
        found = tuple(numpy.stack(part) if part else numpy.empty((0, length), numpy.uint8) for part in parts)
    if not all(map(len, found)):
        raise UsageError(
            f"{intervals or path} gives {len(found[0])} windows of {length} letters to learn from "
            f"and {len(found[1])} to hold out; it takes at least 1 of each, so lower dataset.max_length "
            "(to train a classifier instead, write labels into the headers: >id|label)"
        )
    return Windows(*found, genome.replaced, left_out)


def in_a_row(tokens: numpy.ndarray, length: int) -> numpy.ndarray:
    """Return all adjacent windows (windows, length), without an incomplete last one."""
    return tokens[: len(tokens) // length * length].reshape(-1, length)


def by_intervals(
    sequences: dict[str, numpy.ndarray], length: int, path: Path
) -> tuple[tuple[list[numpy.ndarray], list[numpy.ndarray]], int]:
    """Return the windows at the centres of the intervals of `train` and `valid`, and how many had no room.

    Raises UsageError.
    """
    left_out = 0
    found: dict[str, list[numpy.ndarray]] = {"train": [], "valid": [], "test": []}
    for number, (name, start, end, split) in enumerate(read_bed(path), 1):
        if name not in sequences:
            raise UsageError(f"{path}, line {number}: the genome has no sequence {name}")
        if split not in found:
            raise UsageError(f"{path}, line {number}: the split {split!r} is none of {', '.join(found)}")
        first = (start + end - length) // 2
        if first >= 0 and first + length <= len(sequences[name]):
            found[split].append(sequences[name][first : first + length])
        else:
            left_out += 1
        if number > MOST:
            raise UsageError(f"{path}: more than {MOST:,} intervals are not read")
    check_memory(path, "its windows take", length * sum(map(len, found.values())))
    return (found["train"], found["valid"]), left_out


def read_bed(path: Path) -> Iterator[tuple[str, int, int, str]]:
    """Yield sequence, start, end (from 0, end excluded) and split of each line. Raises UsageError."""
    try:
        for number, line in enumerate(lines_of(path), 1):
            parts = line.decode().split("\t")
            if len(parts) < 4 or not all(part.isdecimal() and len(part) < 16 for part in parts[1:3]):
                raise UsageError(
                    f"{path}, line {number}: expected name, start, end and split between tabs; the split is "
                    "train, valid or test"
                )
            start, end = map(int, parts[1:3])
            if start >= end:
                raise UsageError(f"{path}, line {number}: an interval from {start} to {end} holds nothing")
            yield parts[0], start, end, parts[3].strip()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"cannot read {path}: {getattr(error, 'strerror', None) or 'it is no text'}"
        ) from None
