"""Read delimited text in parts: what separates it, which lines are titles, and how it is packed."""

import codecs
import contextlib
import csv
import gzip
import io
import sys
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow
from pyarrow import csv as arrow_csv

from snippets.foreign_files import LONGEST_LINE, check_unpacked, open_regular, refused, size_of

# foreign_reads: with limits of its own
SUFFIXES = (".csv", ".tsv", ".txt", ".tab", ".data")
SEPARATORS = ",\t;|"  # the most frequent one in the first line separates; the first of several
MOST_COLUMNS = 1000  # each takes kilobytes in every part, even without values
MOST_BAD = 10  # rows of another length that an error names
MANY = 5  # columns: then a line with one cell is a title or a footer
FOREIGN = {  # first bytes of files that are called tables
    b"\xd0\xcf\x11\xe0": "it is an Excel file; save it as CSV UTF-8",
    **dict.fromkeys(  # not every <: names of columns may be in angle brackets, <DATE> for example
        (b"<!", b"<?", b"<html", b"<HTML", b"<head"),
        "it is a web page or XML, so the download may have failed; get it again",
    ),
    b'{"': "it is JSON, perhaps a message of the server instead of the download; get it again",
    b"%PDF": "it is a PDF file; it takes a table of text",
}
NO_UTF8 = "it is no UTF-8 text; if it is GBK, convert it: COMMAND"


@dataclass(frozen=True)
class DelimitedText:
    """The layout of a file, and its rows in parts."""

    path: Path
    names: list[str]  # stripped cells of the header; without one 1, 2, …
    has_header: bool
    separator: str
    quote: str | bool
    titles: int  # lines above the header
    encoding: str = "utf-8"
    only_header: bool = False
    left_out: list[str] = field(default_factory=list)  # these lines; once read, those below the rows
    bad: list[arrow_csv.InvalidRow] = field(default_factory=list)  # of another length, the first ten

    def read(self, at: Sequence[int]) -> Iterator[pyarrow.RecordBatch]:
        """Yield parts of the rows with the columns at these places, as strings. Raises many errors."""
        del self.left_out[self.titles :]
        self.bad.clear()
        if self.only_header:  # pyarrow takes a line without end for a part of a row
            with Unpacked(self.path, self.encoding) as content:
                while content.read(LONGEST_LINE):  # up to the end, where damage shows
                    pass
            return
        numbered = [str(number + 1) for number in range(len(self.names))]
        read = arrow_csv.ReadOptions(
            use_threads=False,
            block_size=LONGEST_LINE,
            skip_rows=self.titles,
            column_names=numbered,
            skip_rows_after_names=int(self.has_header),
        )
        parse = arrow_csv.ParseOptions(
            delimiter=self.separator,
            quote_char=self.quote,
            newlines_in_values=self.quote is not False,
            invalid_row_handler=self.other_row,
        )
        convert = arrow_csv.ConvertOptions(
            column_types=dict.fromkeys(numbered, pyarrow.string()),
            include_columns=[numbered[column] for column in at],
        )
        with Unpacked(self.path, self.encoding) as content, released(content):
            file = pyarrow.PythonFile(content, mode="r")
            try:
                with arrow_csv.open_csv(file, read, parse, convert) as parts:
                    for part in parts:
                        if len(self.bad) >= MOST_BAD:
                            break
                        if not self.bad:  # else the numbers of the lines would no longer be right
                            yield part
            except pyarrow.ArrowInvalid as error:
                if "straddling" not in str(error):
                    raise
                raise refused(self.path, self.too_long()) from None
            finally:
                parts = file = None
        if self.bad:
            raise refused(self.path, self.other_lengths())

    def other_row(self, row: arrow_csv.InvalidRow) -> str:
        """Leave out a line below the table; every other row with more or fewer cells is an error."""
        if row.actual_columns == 1 and row.expected_columns >= MANY:
            self.left_out.append(row.text[:200])
        elif len(self.bad) < MOST_BAD:
            self.bad.append(row)
        return "skip"

    def other_lengths(self) -> str:
        """Return what is wrong with the rows of another length."""
        first, *others = self.bad
        expected = f"{first.actual_columns} values, and the first one has {first.expected_columns}"
        more = f"; likewise line {', '.join(str(row.number) for row in others)}" if others else ""
        return f"line {first.number} has {expected}; correct or remove it{more}"

    def too_long(self) -> str:
        """Return what is wrong with the first row that is too long, and the line in which it begins."""
        line = begins = 1
        length, quoted = 0, False
        with Unpacked(self.path, self.encoding) as file:
            while length <= LONGEST_LINE and (content := file.read(LONGEST_LINE)):
                for end in content.splitlines(keepends=True):
                    length += len(end)
                    quoted ^= self.quote is not False and end.count(b'"') % 2 == 1
                    line += end.endswith(b"\n")
                    if length > LONGEST_LINE:
                        break
                    if end.endswith(b"\n") and not quoted:
                        begins, length = line, 0
        return (
            f"line {begins}: a row is longer than {LONGEST_LINE:,} bytes; cut its texts, or perhaps a "
            "quotation mark has no second one"
        )


def open_text(
    path: Path,
    header: Callable[[list[str]], bool],
    known: Callable[[list[str]], bool] | None = None,
    encoding: str = "utf-8",
) -> DelimitedText:
    """Open delimited text; what is no UTF-8 is GB18030 if `known` then knows its first cells.

    Raises OSError and ValueError.
    """
    with Unpacked(path, encoding) as file:
        start = file.read(LONGEST_LINE)
    for beginning, reason in FOREIGN.items():
        if start.startswith(beginning):
            raise refused(path, reason)
    try:
        text = start.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if error.start < len(start) - 4:  # else the part ends within a character
            if known and (chinese := in_gb18030(path, header, known)):
                return chinese
            raise refused(path, NO_UTF8) from None
        text = start[: error.start].decode("utf-8-sig")
    if not text.strip():
        raise refused(path, "it is empty")
    titles, separator = layout(text)
    above, text = divided(text, titles)
    quote: str | bool = '"'
    if separator == "\t" and not is_quoted(text, cut=len(start) == LONGEST_LINE):
        quote = False  # between tabs, a quotation mark may be a letter
    cells = [cell.strip() for cell in next(rows_of_text(text, separator, quote))]
    if len(cells) > MOST_COLUMNS:
        raise refused(path, f"its first line has more than {MOST_COLUMNS:,} columns")
    numbered = [str(number + 1) for number in range(len(cells))]
    has_header = header(cells)
    names, only_header = cells if has_header else numbered, has_header and len(text.splitlines()) == 1
    return DelimitedText(path, names, has_header, separator, quote, titles, encoding, only_header, above)


def in_gb18030(
    path: Path, header: Callable[[list[str]], bool], known: Callable[[list[str]], bool]
) -> DelimitedText | None:
    """Return text as GB18030 reads it, None unless `known` knows its names: Latin letters decode, too."""
    with contextlib.suppress(OSError, csv.Error):
        text = open_text(path, header, encoding="gb18030")
        return text if known(text.names) else None
    return None


def layout(text: str) -> tuple[int, str]:
    """Return the number of lines above the header, such as an address, and the separator.

    Those lines have no separator, and the next three have the same number of them, which is not small.
    """
    lines = text.splitlines()[:20]
    filled = [number for number, line in enumerate(lines) if line.strip()]
    for place, number in enumerate(filled[:-2]):
        separator = max(SEPARATORS, key=lines[number].count)
        counts = {lines[below].count(separator) for below in filled[place : place + 3]}
        if len(counts) == 1 and max(counts) >= MANY - 1:
            return (number if place else 0), separator
        if any(lines[number].count(separator) for separator in SEPARATORS):
            break
    return 0, max(SEPARATORS, key=lines[filled[0]].count)


def divided(text: str, titles: int) -> tuple[list[str], str]:
    """Return the first lines, and the rest of a text."""
    lines = text.splitlines(keepends=True)
    return [line.strip()[:200] for line in lines[:titles]], "".join(lines[titles:])


def is_quoted(text: str, *, cut: bool) -> bool:
    """Return whether quotation marks around cells give rows of one length; `cut`: more text follows."""
    rows = rows_of_text(text, "\t", '"')
    length = len(next(rows))
    try:
        return all(len(row) == length for row in rows)
    except csv.Error as error:
        return cut and "end of data" in str(error)


def rows_of_text(text: str, separator: str, quote: str | bool) -> Iterator[list[str]]:
    """Yield the cells of each row that is not empty. Raises csv.Error."""
    quotes: Any = csv.QUOTE_MINIMAL if quote else csv.QUOTE_NONE
    file = io.StringIO(text, newline="")
    return filter(None, csv.reader(file, delimiter=separator, quoting=quotes, strict=True))


@contextlib.contextmanager
def released(content: "Unpacked") -> Iterator[None]:
    """Wait until pyarrow's thread, which reads ahead, has let go of a file, at most half a second.

    A process that ends before is aborted, "terminate called without an active exception".
    """
    references = sys.getrefcount(content)
    try:
        yield
    finally:
        for _ in range(500):
            if sys.getrefcount(content) <= references:
                break
            time.sleep(0.001)


class Unpacked(io.RawIOBase):
    """The text in a plain, .gz or .zip file, in UTF-8. Refuses NUL bytes, and what unpacks absurdly large."""

    def __init__(self, path: Path, encoding: str = "utf-8") -> None:
        """Open the file. Raises OSError."""
        self.path = path
        self.packed: Any = open_regular(path)
        self.file: Any = self.packed
        self.size, self.unpacked = size_of(self.packed), 0
        start = self.file.peek(2)[:2]
        if start == b"\x1f\x8b":
            self.file = gzip.GzipFile(fileobj=self.packed)
        elif start == b"PK":
            self.file = only_member(path, self.packed)
        with damage(path):
            sixteen = self.file.peek(2)[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
        encoding = "utf-16" if sixteen else encoding
        self.decoder = codecs.getincrementaldecoder(encoding)() if encoding != "utf-8" else None

    def read(self, size: int = -1) -> bytes:
        """Return up to `size` bytes, or of UTF-16 a little more. Raises OSError."""
        with damage(self.path):
            packed = self.file.read(size)
            content = self.decoder.decode(packed, not packed).encode() if self.decoder else packed
        if self.decoder and packed and not content:  # it had a part of a character
            return self.read(size)
        if (place := content.find(b"\0")) >= 0:
            raise refused(self.path, f"byte {self.unpacked + place + 1:,} is NUL, so it is no text")
        self.unpacked += len(content)
        check_unpacked(self.path, self.unpacked, self.size)
        return content

    def readable(self) -> bool:
        """Return True."""
        return True

    def close(self) -> None:
        """Close the file."""
        self.packed.close()
        super().close()


@contextlib.contextmanager
def damage(path: Path) -> Iterator[None]:
    """Turn the errors of damaged archives and of text cut within a character into an OSError."""
    try:
        yield
    except (zlib.error, EOFError, zipfile.BadZipFile, gzip.BadGzipFile, UnicodeDecodeError) as error:
        raise refused(path, f"it is damaged ({error}); download it again") from None


def only_member(path: Path, file: BinaryIO) -> BinaryIO:
    """Return the open only file in a ZIP archive. Raises OSError."""
    if path.suffix.lower() != ".zip":
        raise refused(path, "it is an Excel file or another archive; save it as CSV UTF-8")
    try:
        archive = zipfile.ZipFile(file)
        members = [info for info in archive.infolist() if not info.is_dir() and not hidden(info.filename)]
        if len(members) != 1:
            raise refused(path, f"it has {len(members)} files; unpack it and name one of them")
        if Path(members[0].filename).suffix.lower() not in SUFFIXES:
            raise refused(path, f"it has {members[0].filename[:80]}; it takes {', '.join(SUFFIXES)}")
        return archive.open(members[0])  # type: ignore[return-value]
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError) as error:
        raise refused(path, f"it is damaged or encrypted: {error}") from None


def hidden(name: str) -> bool:
    """Return whether a Mac has added this member to an archive."""
    return name.startswith("__MACOSX/") or Path(name).name.startswith(".")
