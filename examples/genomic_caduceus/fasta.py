"""Read FASTA, plain or compressed, a record at a time."""

import shlex
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy

from examples.genomic_caduceus.tokens import NoBase, Replaced, encode
from snippets.errors import UsageError
from snippets.foreign_files import LONGEST_LINE, lines_of

SUFFIXES = (".fa", ".fna", ".fasta", ".fas", ".ffn")
LONGEST = 1 << 29  # letters of a line, which may be a whole chromosome
BLOCK = 1 << 20  # letters that become tokens at a time
OTHERS = {  # how files begin that are taken for FASTA
    b"\x43\x27\x41\x1a": "is a .2bit file; make FASTA of it: twoBitToFa {path} {stem}.fa",
    b"\x1a\x41\x27\x43": "is a .2bit file; make FASTA of it: twoBitToFa {path} {stem}.fa",
    b"\x1f\x8b": "is compressed; give it a name that ends in .gz",
    b"PK": "is a zip archive; unpack it: unzip {path}",
    b"\xff\xfe": "is text in UTF-16; convert it: iconv -f UTF-16 -t UTF-8 {path} > utf8.fa",
    b"\xfe\xff": "is text in UTF-16; convert it: iconv -f UTF-16 -t UTF-8 {path} > utf8.fa",
    b"@": "looks like FASTQ, reads with qualities; it takes FASTA, >name and then letters",
}


class Record(NamedTuple):
    """A sequence of a file: its header without >, the number of that line, and its letters."""

    header: str
    line: int
    letters: bytearray

    @property
    def name(self) -> str:
        """Return the first word of the header."""
        return (self.header.split(maxsplit=1) or [""])[0]


def is_fasta(path: Path) -> bool:
    """Return whether the name of a file is one of FASTA, also compressed."""
    name = path.name.lower().removesuffix(".gz")
    return name.endswith(SUFFIXES) and name[0] != "."


def records_of(path: Path, wanted: Callable[[str], bool] = lambda name: True) -> Iterator[Record]:
    """Yield the records of a file whose name is `wanted`; only one is in memory. Raises UsageError."""
    record: Record | None = None
    kept = some = False
    try:
        lines = enumerate(lines_of(path, LONGEST), 1)
        for number, line in lines:
            if number == 1:
                line = line.removeprefix(b"\xef\xbb\xbf")
                check_beginning(path, line)
            if line[:1] == b">":
                if record is not None and kept:
                    yield record
                header = line[1:LONGEST_LINE].decode("utf-8", "replace").strip()
                record = Record(header, number, bytearray())
                kept = wanted(record.name)
            elif line := line.strip():
                if record is None:
                    raise UsageError(f"{path}, line {number}: FASTA begins with >name")
                if b">" in line:
                    raise UsageError(glued(path, number, lines))
                some = True
                if kept:
                    record.letters.extend(line)
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
    if record is None or not some:
        raise UsageError(f"{path} holds no sequence; FASTA has >name, then lines of letters")
    if kept:
        yield record


def glued(path: Path, number: int, others: Iterable[tuple[int, bytes]]) -> str:
    """Return the message on a header that begins within a line of letters, in this line and in `others`."""
    found = [number, *(other for other, line in others if b">" in line and not line.startswith(b">"))]
    shown = ", ".join(map(str, found[:5])) + (f" and {len(found) - 5:,} more" if len(found) > 5 else "")
    command = f"perl -pe '/^>/ or s/>/\\n>/' {shlex.quote(str(path))} > split.fa"
    return f"{path}, line {shown}: a line break is missing before >, as cat leaves it; put it in: {command}"


def check_beginning(path: Path, line: bytes) -> None:
    """Raise UsageError for the first line of another format."""
    for beginning, reason in OTHERS.items():
        if line.startswith(beginning):
            raise UsageError(f"{path} {reason.format(path=path, stem=path.stem)}")


def tokens_of(path: Path, record: Record, replaced: Replaced) -> numpy.ndarray:
    """Return the tokens of a record, uint8 (letters,), in the memory of its letters. Raises UsageError."""
    tokens = numpy.frombuffer(record.letters, dtype=numpy.uint8)
    for start in range(0, len(tokens), BLOCK):
        block = tokens[start : start + BLOCK]
        try:
            block[:] = encode(block, replaced)
        except NoBase as error:
            place = start + error.place + 1
            raise UsageError(f"{path}, {record.name}, place {place}: {error}") from None
    return tokens
