"""Read tables of others in parts: delimited text, JSON lines and Parquet, also in .gz and .zip.

What a file is, its first bytes tell; memory stays bounded, however large the file is.
"""

import contextlib
import json
import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.compute
from pyarrow import types
from pyarrow.parquet import ParquetFile

from examples.programs import delimited_text
from snippets.errors import UsageError
from snippets.foreign_files import LONGEST_LINE, check_unpacked, lines_of, open_regular, refused, size_of

# foreign_reads: with limits of its own
JSON_SUFFIXES = (".jsonl", ".ndjson")
SUFFIXES = (*delimited_text.SUFFIXES, *JSON_SUFFIXES, ".parquet")
PACKED_SUFFIXES = (".gz", ".zip")
CURES = {
    **dict.fromkeys((".xlsx", ".xls", ".numbers"), "save it as CSV UTF-8, with names in its first row"),
    ".json": "write an object on each line, such as a question and its answer, in a file .jsonl",
}
ROWS = 1 << 16  # of a part
CELL = 8  # bytes
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
    titles: int = 0  # lines above the header
    left_out: list[str] = field(default_factory=list)  # titles above the rows; once read, lines below them
    encoding: str = "utf-8"

    def batches(self, columns: Sequence[str]) -> Iterator[pyarrow.RecordBatch]:
        """Yield parts of the rows, with these columns in this order; cells of text formats are strings.

        A name that several columns have is the first of them. Raises UsageError, which names the row.
        """
        at = [self.names.index(name) for name in columns]
        with as_usage_error(self.path):
            for part in self.read(at):
                yield pyarrow.RecordBatch.from_arrays(part.columns, names=list(columns))

    @property
    def numbered(self) -> bool:
        """Return whether the columns have numbers instead of names."""
        return self.names == [str(number + 1) for number in range(len(self.names))]

    def row(self, number: int) -> str:
        """Return file and line of row `number`, counted from 0 without empty lines."""
        if self.of_lines:
            return f"{self.path}, line {number + 1 + self.has_header + self.titles}"
        return f"{self.path}, row {number + 1}"


def is_table(path: Path) -> bool:
    """Return whether a file is called like a table that `open_table` reads, and is not hidden."""
    packed = path.suffix.lower() in PACKED_SUFFIXES
    suffix = Path(path.stem).suffix if packed else path.suffix
    return path.name[0] != "." and (suffix.lower() in SUFFIXES or path.suffix.lower() == ".zip")


def open_table(
    path: Path,
    header: Callable[[list[str]], bool] = lambda cells: True,
    known: Callable[[list[str]], bool] | None = None,
) -> Table:
    """Open a table; `header` returns whether the first cells are names. Raises UsageError in one line.

    Text that is no UTF-8 is read as GB18030 if `known`, given its first cells, returns that they are names.
    """
    with as_usage_error(path):
        if path.is_dir():
            raise refused(path, "it is a folder; name a file in it")
        if not is_table(path):
            ends = ", ".join((*SUFFIXES, *PACKED_SUFFIXES))
            cure = CURES.get(path.suffix.lower(), f"it takes {ends}")
            raise refused(path, f"{path.suffix or 'a name without an ending'} is no table here; {cure}")
        with open_regular(path) as file:
            start = file.read(4)
        if start == b"PAR1" or path.suffix.lower() == ".parquet":
            return open_parquet(path)
        if Path(path.stem if path.suffix == ".gz" else path).suffix.lower() in JSON_SUFFIXES:
            return open_json_lines(path)
        text = delimited_text.open_text(path, header, known)
        return Table(
            path, text.names, text.has_header, True, text.read, text.titles, text.left_out, text.encoding
        )


@contextlib.contextmanager
def as_usage_error(path: Path) -> Iterator[None]:
    """Turn any error of reading a damaged file into a UsageError in one line."""
    try:
        yield
    except UsageError:
        raise
    except Exception as error:
        reason = getattr(error, "strerror", None) or explained(str(error)) or type(error).__name__
        files = f"{shlex.quote(str(path))} > {shlex.quote(f'utf8/{path.name}')}"
        command = f"mkdir -p utf8; iconv -f GB18030 -t UTF-8 {files}"  # a symbol is called like its file
        raise UsageError(f"cannot read {path}: {reason.replace('COMMAND', command)}") from None


def explained(message: str) -> str:
    """Return the message of a library in one line, and in words where it needs them."""
    message = message.partition("\n")[0].removeprefix("CSV parse error: ")
    if "UTF8" in message:
        return delimited_text.NO_UTF8
    return message[:200]


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
        if not isinstance(row, dict) or len(row) > delimited_text.MOST_COLUMNS:
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
        chosen = [fields.field(place) for place in at]
        for column in chosen:
            kind = column.type.value_type if types.is_dictionary(column.type) else column.type
            if not any(fits(kind) for fits in (*PLAIN, *TEXT)):
                raise refused(path, f"the column {column.name} holds {kind}, neither numbers nor texts")
        texts = [column.name for column in chosen if any(fits(column.type) for fits in TEXT)]
        names = [column.name for column in chosen]
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
