"""Read tables of others in parts: delimited text, JSON lines and Parquet, also in .gz and .zip.

What a file is, its first bytes tell; memory stays bounded, however large the file is.
"""

import contextlib
import csv
import gzip
import io
import json
import re
import shlex
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow
import pyarrow.compute
from pyarrow import csv as arrow_csv
from pyarrow import types
from pyarrow.parquet import ParquetFile

from snippets.errors import UsageError
from snippets.foreign_files import LONGEST_LINE, check_unpacked, lines_of, open_regular, refused, size_of

# foreign_reads: with limits of its own
TEXT_SUFFIXES = (".csv", ".tsv", ".txt", ".tab")
JSON_SUFFIXES = (".jsonl", ".ndjson")
SUFFIXES = (*TEXT_SUFFIXES, *JSON_SUFFIXES, ".parquet")
PACKED_SUFFIXES = (".gz", ".zip")
SEPARATORS = ",\t;|"  # the most frequent one in the first line separates; the first of several
MOST_COLUMNS = 1000  # each takes kilobytes in every part, even without values
ROWS = 1 << 16  # of a part
CELL = 8  # bytes
FOREIGN = {  # first bytes of files that are called tables
    b"\xff\xfe": "it is UTF-16; convert it: iconv -f UTF-16 -t UTF-8 NAME > NEW",
    b"\xfe\xff": "it is UTF-16; convert it: iconv -f UTF-16 -t UTF-8 NAME > NEW",
    b"\xd0\xcf\x11\xe0": "it is an Excel file; save it as CSV UTF-8",
    b"<": "it is a web page or XML, so the download may have failed; get it again",
    b"%PDF": "it is a PDF file; it takes a table of text",
}
NO_UTF8 = "it is no UTF-8 text; if it is GBK, convert it: iconv -f GB18030 -t UTF-8 NAME > NEW"
OTHER_LENGTH = re.compile(r"Row #(\d+): Expected (\d+) columns, got (\d+)")
PLAIN = (types.is_primitive, types.is_decimal, types.is_null)
TEXT = (types.is_string, types.is_large_string, types.is_binary, types.is_large_binary)


@dataclass(frozen=True)
class Table:
    """An open table: its columns, and a function that reads the columns at some positions in parts."""

    path: Path
    names: list[str]  # stripped cells of the header; without one 1, 2, …
    has_header: bool
    of_lines: bool  # each row is a line of text
    read: Callable[[Sequence[int]], Iterator[pyarrow.RecordBatch]]

    def batches(self, columns: Sequence[str]) -> Iterator[pyarrow.RecordBatch]:
        """Yield parts of the rows, with these columns in this order; cells of text formats are strings.

        A name that several columns have is the first of them. Raises UsageError, which names the row.
        """
        at = [self.names.index(name) for name in columns]
        with one_line(self.path):
            for part in self.read(at):
                yield pyarrow.RecordBatch.from_arrays(part.columns, names=list(columns))

    def row(self, number: int) -> str:
        """Return file and line of row `number`, counted from 0 without empty lines."""
        if self.of_lines:
            return f"{self.path}, line {number + 1 + self.has_header}"
        return f"{self.path}, row {number + 1}"


def is_table(path: Path) -> bool:
    """Return whether a file is called like a table that `open_table` reads, and is not hidden."""
    packed = path.suffix.lower() in PACKED_SUFFIXES
    suffix = Path(path.stem).suffix if packed else path.suffix
    return path.name[0] != "." and (suffix.lower() in SUFFIXES or path.suffix.lower() == ".zip")


def open_table(path: Path, header: Callable[[list[str]], bool] = lambda cells: True) -> Table:
    """Open a table; `header` returns whether the first cells are names. Raises UsageError in one line."""
    with one_line(path):
        if not is_table(path):
            ends = ", ".join((*SUFFIXES, *PACKED_SUFFIXES))
            raise refused(path, f"{path.suffix or 'a name without an ending'} is no table; it takes {ends}")
        with open_regular(path) as file:
            start = file.read(4)
        if start == b"PAR1" or path.suffix.lower() == ".parquet":
            return open_parquet(path)
        if Path(path.stem if path.suffix == ".gz" else path).suffix.lower() in JSON_SUFFIXES:
            return open_json_lines(path)
        return open_text(path, header)


@contextlib.contextmanager
def one_line(path: Path) -> Iterator[None]:
    """Turn any error of reading a damaged file into a UsageError in one line."""
    try:
        yield
    except UsageError:
        raise
    except Exception as error:
        reason = getattr(error, "strerror", None) or explained(str(error)) or type(error).__name__
        files = f"{shlex.quote(str(path))} > {shlex.quote(f'utf8-{path.name}')}"
        raise UsageError(f"cannot read {path}: {reason.replace('NAME > NEW', files)}") from None


def explained(message: str) -> str:
    """Return the message of a library in one line, and in words where it needs them."""
    message = message.partition("\n")[0].removeprefix("CSV parse error: ")
    if "UTF8" in message:
        return NO_UTF8
    if of_row := OTHER_LENGTH.match(message):
        line, expected, found = of_row.groups()
        return f"line {line} has {found} values, and the first one has {expected}; correct or remove it"
    if "straddling" in message:
        return f"a row is longer than {LONGEST_LINE:,} bytes; perhaps a quotation mark has no second one"
    return message[:200]


class Unpacked(io.RawIOBase):
    """The text in a plain, .gz or .zip file. Refuses what unpacks absurdly large, and NUL bytes."""

    def __init__(self, path: Path) -> None:
        """Open the file. Raises OSError."""
        self.path, self.packed = path, open_regular(path)
        self.size, self.unpacked = size_of(self.packed), 0
        start = self.packed.read(4)
        self.packed.seek(0)
        self.file: BinaryIO = self.packed
        if start[:2] == b"\x1f\x8b":
            self.file = gzip.GzipFile(fileobj=self.packed)  # type: ignore[assignment]
        elif start[:2] == b"PK":
            self.file = only_member(path, self.packed)

    def read(self, size: int = -1) -> bytes:
        """Return up to `size` bytes. Raises OSError."""
        try:
            content = self.file.read(size)
        except (zlib.error, EOFError, zipfile.BadZipFile, gzip.BadGzipFile) as error:
            raise refused(self.path, f"the archive is damaged: {error}") from None
        self.unpacked += len(content)
        check_unpacked(self.path, self.unpacked, self.size)
        if b"\0" in content and content[:2] not in FOREIGN:
            raise refused(
                self.path, f"it has NUL bytes after {self.unpacked - len(content):,} bytes; it is no text"
            )
        return content

    def readable(self) -> bool:
        """Return True."""
        return True

    def close(self) -> None:
        """Close the file."""
        self.packed.close()
        super().close()


def only_member(path: Path, file: BinaryIO) -> BinaryIO:
    """Return the open only file in a ZIP archive. Raises OSError."""
    if path.suffix.lower() != ".zip":
        raise refused(path, "it is an Excel file or another archive; save it as CSV UTF-8")
    try:
        archive = zipfile.ZipFile(file)
        members = [info for info in archive.infolist() if not info.is_dir() and not hidden(info.filename)]
        if len(members) != 1:
            raise refused(path, f"it has {len(members)} files; unpack it and name one of them")
        if Path(members[0].filename).suffix.lower() not in TEXT_SUFFIXES:
            raise refused(path, f"it has {members[0].filename[:80]}; it takes {', '.join(TEXT_SUFFIXES)}")
        return archive.open(members[0])  # type: ignore[return-value]
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError) as error:
        raise refused(path, f"the archive is damaged or encrypted: {error}") from None


def hidden(name: str) -> bool:
    """Return whether a Mac has added this member to an archive."""
    return name.startswith("__MACOSX/") or Path(name).name.startswith(".")


def open_text(path: Path, header: Callable[[list[str]], bool]) -> Table:
    """Open delimited text. Raises OSError and ValueError."""
    with Unpacked(path) as file:
        start = file.read(LONGEST_LINE)
    for beginning, reason in FOREIGN.items():
        if start.startswith(beginning):
            raise refused(path, reason)
    try:
        text = start.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if error.start < len(start) - 4:  # else the part ends within a character
            raise refused(path, NO_UTF8) from None
        text = start[: error.start].decode("utf-8-sig")
    first = next((line for line in text.splitlines() if line.strip()), "")
    if not first:
        raise refused(path, "it is empty")
    separator = max(SEPARATORS, key=first.count)
    # A tab needs no quotation marks around it, so one in a text is a letter.
    quote: str | bool = False if separator == "\t" else '"'
    cells = cells_of(text, separator, quote)
    if len(cells) > MOST_COLUMNS:
        raise refused(path, f"its first line has more than {MOST_COLUMNS:,} columns")
    has_header = header(cells)
    numbered = [str(number + 1) for number in range(len(cells))]

    def read(at: Sequence[int]) -> Iterator[pyarrow.RecordBatch]:
        with (
            Unpacked(path) as content,
            arrow_csv.open_csv(
                pyarrow.PythonFile(content, mode="r"),
                arrow_csv.ReadOptions(
                    use_threads=False,
                    block_size=LONGEST_LINE,
                    column_names=numbered,
                    skip_rows_after_names=int(has_header),
                ),
                arrow_csv.ParseOptions(
                    delimiter=separator, quote_char=quote, newlines_in_values=quote is not False
                ),
                arrow_csv.ConvertOptions(
                    column_types=dict.fromkeys(numbered, pyarrow.string()),
                    include_columns=[numbered[column] for column in at],
                ),
            ) as parts,
        ):
            yield from parts

    return Table(path, cells if has_header else numbered, has_header, True, read)


def cells_of(text: str, separator: str, quote: str | bool) -> list[str]:
    """Return the stripped cells of the first row that is not empty."""
    quotes: Any = csv.QUOTE_MINIMAL if quote else csv.QUOTE_NONE
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator, quoting=quotes)
    return [cell.strip() for cell in next(filter(None, rows))]


def open_json_lines(path: Path) -> Table:
    """Open JSON lines: objects, whose keys are the columns, or lists. Raises OSError and ValueError."""
    first = next(rows_of_json(path), None)
    if first is None:
        raise refused(path, "it is empty")
    names = list(first)

    def read(at: Sequence[int]) -> Iterator[pyarrow.RecordBatch]:
        wanted = [names[column] for column in at]
        cells: list[list[str]] = [[] for _ in wanted]
        size = 0
        for number, row in enumerate(rows_of_json(path), 1):
            for column, name in zip(cells, wanted, strict=True):
                column.append(text_of(row, name, f"{path}, line {number}"))
                size += len(column[-1])
            if number % ROWS == 0 or size > LONGEST_LINE:
                yield pyarrow.RecordBatch.from_arrays([pyarrow.array(column) for column in cells], wanted)
                cells, size = [[] for _ in wanted], 0
        if cells and cells[0]:
            yield pyarrow.RecordBatch.from_arrays([pyarrow.array(column) for column in cells], wanted)

    return Table(path, names, False, True, read)


def rows_of_json(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the object of each line; the values of a list are called 1, 2, …. Raises OSError, UsageError."""
    for number, line in enumerate(lines_of(path), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line.decode("utf-8-sig"))
        except (ValueError, RecursionError) as error:
            raise UsageError(f"{path}, line {number} is no JSON: {str(error)[:80]}") from None
        if isinstance(row, list):
            row = {str(place): value for place, value in enumerate(row, 1)}
        if not isinstance(row, dict) or len(row) > MOST_COLUMNS:
            raise UsageError(f"{path}, line {number} is neither an object {{…}} nor a list […]")
        yield row


def text_of(row: dict[str, Any], name: str, source: str) -> str:
    """Return a value of an object as text. Raises UsageError when it is missing or no text or number."""
    value = row.get(name)
    if isinstance(value, str):
        return value
    if isinstance(value, int | float):
        return json.dumps(value)
    what = f"holds a {type(value).__name__}" if name in row else "is missing"
    raise UsageError(f"{source}: {name!r:.60} {what}; it takes a text or a number")


def open_parquet(path: Path) -> Table:
    """Open a Parquet file, in which repeated values may take no space. Raises many errors for damage."""
    with open_regular(path) as file:
        fields = ParquetFile(file).schema_arrow

    def read(at: Sequence[int]) -> Iterator[pyarrow.RecordBatch]:
        chosen = [fields.field(column) for column in at]
        for field in chosen:
            kind = field.type.value_type if types.is_dictionary(field.type) else field.type
            if not any(fits(kind) for fits in (*PLAIN, *TEXT)):
                raise refused(path, f"the column {field.name} holds {kind}, neither numbers nor texts")
        texts = [field.name for field in chosen if any(fits(field.type) for fits in TEXT)]
        names = [field.name for field in chosen]
        with open_regular(path) as file:
            table = ParquetFile(file, read_dictionary=texts)  # equal texts are stored once
            check_unpacked(path, promised(table, names), size_of(file))
            unpacked = 0
            for part in table.iter_batches(ROWS, columns=names):
                unpacked += sum(map(spelt_out, part.columns))
                check_unpacked(path, unpacked, size_of(file))
                yield pyarrow.RecordBatch.from_arrays([plain(part.column(name)) for name in names], names)

    return Table(path, [name.strip() for name in fields.names], True, False, read)


def plain(column: pyarrow.Array) -> pyarrow.Array:
    """Return a column with a copy of its text in every row."""
    return column.cast(column.type.value_type) if types.is_dictionary(column.type) else column


def promised(table: ParquetFile, names: Sequence[str]) -> int:
    """Return the bytes of columns in memory by the file's metadata, without repeated texts."""
    groups = [table.metadata.row_group(number) for number in range(table.num_row_groups)]
    columns = [group.column(number) for group in groups for number in range(group.num_columns)]
    columns = [column for column in columns if column.path_in_schema in names]
    return sum(max(CELL * column.num_values, column.total_uncompressed_size) for column in columns)


def spelt_out(column: pyarrow.Array) -> int:
    """Return an upper bound of the bytes of a column when each row has its own copy of its text."""
    if not types.is_dictionary(column.type) or not any(fits(column.type.value_type) for fits in TEXT):
        return CELL * len(column)
    longest = pyarrow.compute.max(pyarrow.compute.binary_length(column.dictionary)).as_py()
    return len(column) * (longest or 0)
