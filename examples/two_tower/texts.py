"""Texts beside their vectors: a JSON line for each row, read one at a time from a file of any size."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, overload

import numpy

from snippets.errors import UsageError
from snippets.foreign_files import LONGEST_LINE, open_regular

NAME = "texts.jsonl"
LONGEST = 100_000  # characters of a text


class Text(NamedTuple):
    """A context and its payload as texts, and where they come from."""

    place: str
    query: str
    document: str


def line_of(*texts: str) -> bytes:
    """Return texts as a line of the file."""
    return json.dumps(texts, ensure_ascii=False).encode() + b"\n"


def clean(text: str, place: str) -> str:
    """Return a text without spaces around it and without halves of characters. Raises UsageError."""
    if len(text) > LONGEST:
        raise UsageError(f"{place}: a text of {len(text):,} characters; cut it to at most {LONGEST:,}")
    return text.strip().encode(errors="replace").decode()


class Texts(Sequence[Text]):
    """The texts in a file, of which only the beginnings of the lines are in memory, 8 bytes each."""

    def __init__(self, path: Path) -> None:
        """Find the lines of a file. Raises UsageError when it cannot be read."""
        self.path = path
        ends = [numpy.zeros(1, dtype=numpy.int64)]
        start = 0
        try:
            self.file = open_regular(path)
            while part := self.file.read(1 << 20):
                here = numpy.flatnonzero(numpy.frombuffer(part, dtype=numpy.uint8) == ord("\n"))
                ends.append(here + (start + 1))
                start += len(part)
        except OSError as error:
            raise UsageError(f"cannot read {path}: {error.strerror}; encode the texts anew") from None
        self.ends = numpy.concatenate(ends)

    def __len__(self) -> int:
        """Return the number of lines."""
        return len(self.ends) - 1

    def strings(self, row: int) -> list[str]:
        """Return the texts of a row. Raises UsageError when its line is damaged."""
        size = int(self.ends[row + 1] - self.ends[row])
        self.file.seek(int(self.ends[row]))
        try:
            found: Any = json.loads(self.file.read(size)) if size <= LONGEST_LINE else None
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, list) or not found or not all(isinstance(text, str) for text in found):
            raise UsageError(f"{self.path}, line {row + 1}, is damaged; encode the texts anew")
        return found

    def parts(self, size: int, start: int = 0) -> Iterator[list[list[str]]]:
        """Yield the texts of `size` rows after another, beginning with the row `start`."""
        for first in range(start, len(self), size):
            yield [self.strings(row) for row in range(first, min(first + size, len(self)))]

    @overload
    def __getitem__(self, row: int) -> Text: ...

    @overload
    def __getitem__(self, row: slice) -> Sequence[Text]: ...

    def __getitem__(self, row: int | slice) -> Text | Sequence[Text]:
        """Return a row as pair; a single text is a payload."""
        if isinstance(row, slice):
            return [self[number] for number in range(*row.indices(len(self)))]
        found = self.strings(row)
        if len(found) == 1:
            return Text(f"text {row + 1}", "", found[0])
        return Text(f"pair {row + 1}", found[0], found[1])
