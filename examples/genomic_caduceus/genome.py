"""Windows of a genome in FASTA, such as hg38.fa: adjacent windows, or those of a BED file."""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy

from examples.genomic_caduceus.tokens import TOKEN_OF_BYTE, UNKNOWN_BASE, no_base
from examples.programs.array_files import check_memory
from snippets.errors import UsageError
from snippets.foreign_files import LONGEST_LINE, lines_of

MOST_UNKNOWN = 0.1  # of the letters of a window; windows with more are left out
LONGEST = 1 << 29  # letters of a line, which may be a whole chromosome
MOST = 2_000_000  # sequences, or intervals; each takes some hundred bytes
HELD_OUT = 20  # without intervals, one window in this number is held out


def read_fasta(path: Path, wanted: Callable[[str], bool] = lambda name: True) -> dict[str, numpy.ndarray]:
    """Return the tokens, uint8 (letters,), of each `wanted` sequence by its name. Raises UsageError."""
    found: dict[str, bytearray] = {}
    letters: bytearray | None = None
    try:
        for number, line in enumerate(lines_of(path, LONGEST), 1):
            if line[:1] == b">":
                name = (line[1:LONGEST_LINE].decode("utf-8", "replace").split(maxsplit=1) or [""])[0]
                if name in found:
                    raise UsageError(f"{path}, line {number}: there is another sequence {name}")
                letters = bytearray()
                if wanted(name):
                    found[name] = letters
                if len(found) > MOST:
                    raise UsageError(f"{path}: more than {MOST:,} sequences are not read")
            elif line.strip():
                if letters is None:
                    raise UsageError(f"{path}, line {number}: FASTA begins with >name")
                letters += line.strip()
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
    if letters is None or (found and not any(found.values())):
        raise UsageError(f"{path} holds no sequence; FASTA has >name, then lines of letters")
    return {name: tokens_in(path, name, letters) for name, letters in found.items()}


def tokens_in(path: Path, name: str, letters: bytearray) -> numpy.ndarray:
    """Return the tokens of a sequence's letters. Raises UsageError for a letter that is no base."""
    codes = numpy.frombuffer(letters, dtype=numpy.uint8)
    tokens = TOKEN_OF_BYTE[codes]
    if not tokens.all():
        place = int((tokens == 0).argmax())
        raise UsageError(f"{path}, {name}, place {place + 1}: {no_base(chr(codes[place]))}")
    return tokens


def read_windows(path: Path, length: int, intervals: Path | None) -> tuple[numpy.ndarray, numpy.ndarray]:
    """Return training and held-out windows, each (windows, length), uint8. Raises UsageError."""
    sequences = read_fasta(path)
    if intervals is None:
        windows = numpy.concatenate([in_a_row(tokens, length) for tokens in sequences.values()])
        windows = windows[(windows == UNKNOWN_BASE).mean(1) <= MOST_UNKNOWN]
        held_out = numpy.arange(len(windows)) % HELD_OUT == HELD_OUT - 1
        found = windows[~held_out], windows[held_out]
    else:
        found = tuple(
            numpy.stack(part) if part else numpy.empty((0, length), numpy.uint8)
            for part in by_intervals(sequences, length, intervals)
        )
    if not all(map(len, found)):
        raise UsageError(
            f"{intervals or path} gives {len(found[0])} windows of {length} letters to learn from "
            f"and {len(found[1])} to hold out; it takes at least 1 of each"
        )
    return found


def in_a_row(tokens: numpy.ndarray, length: int) -> numpy.ndarray:
    """Return all adjacent windows (windows, length), without an incomplete last one."""
    return tokens[: len(tokens) // length * length].reshape(-1, length)


def by_intervals(
    sequences: dict[str, numpy.ndarray], length: int, path: Path
) -> tuple[list[numpy.ndarray], list[numpy.ndarray]]:
    """Return the windows at the centres of the intervals of `train` and `valid`. Raises UsageError."""
    found: dict[str, list[numpy.ndarray]] = {"train": [], "valid": [], "test": []}
    for number, (name, start, end, split) in enumerate(read_bed(path), 1):
        if name not in sequences:
            raise UsageError(f"{path}, line {number}: the genome has no sequence {name}")
        if split not in found:
            raise UsageError(f"{path}, line {number}: the split {split!r} is none of {', '.join(found)}")
        first = (start + end - length) // 2
        if first >= 0 and first + length <= len(sequences[name]):
            found[split].append(sequences[name][first : first + length])
        if number > MOST:
            raise UsageError(f"{path}: more than {MOST:,} intervals are not read")
    check_memory(path, "its windows take", length * sum(map(len, found.values())))
    return found["train"], found["valid"]


def read_bed(path: Path) -> Iterator[tuple[str, int, int, str]]:
    """Yield sequence, start, end (from 0, end excluded) and split of each line. Raises UsageError."""
    try:
        for number, line in enumerate(lines_of(path), 1):
            parts = line.decode().split("\t")
            if len(parts) < 4 or not all(part.isdecimal() and len(part) < 16 for part in parts[1:3]):
                raise UsageError(f"{path}, line {number}: expected name, start, end and split between tabs")
            start, end = map(int, parts[1:3])
            if start >= end:
                raise UsageError(f"{path}, line {number}: an interval from {start} to {end} holds nothing")
            yield parts[0], start, end, parts[3].strip()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"cannot read {path}: {getattr(error, 'strerror', None) or 'it is no text'}"
        ) from None
