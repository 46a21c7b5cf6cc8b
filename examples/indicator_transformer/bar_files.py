"""Read the columns of a file of price bars, CSV or Parquet. What the cells say is not looked at here."""

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow
from pyarrow import csv as arrow_csv
from pyarrow import parquet

from snippets.errors import UsageError

# --8<-- [start:schema]
# The columns of a bar, and under which names they are accepted: in small letters or capitals, in any order.
# Further columns are ignored. The time is that at which a bar begins.
NAMES = {
    "timestamp": ("timestamp", "datetime", "date", "time", "open time", "open_time", "window_start", "t"),
    "open": ("open", "o"),
    "high": ("high", "h"),
    "low": ("low", "l"),
    "close": ("close", "c"),
    "volume": ("volume", "v"),
}
# --8<-- [end:schema]
NUMBERS = tuple(name for name in NAMES if name != "timestamp")
SUFFIXES = (".csv", ".parquet")
PARQUET = b"PAR1"  # the first four bytes of such a file
COMPRESSED = (b"PK\x03\x04", b"\x1f\x8b", b"BZh", b"\xfd7zX", b"\x28\xb5\x2f\xfd")  # zip gzip bzip2 xz zstd


@dataclass(frozen=True)
class BarFile:
    """The columns of a file under the names of `NAMES`, each of whatever type the file gives it."""

    path: Path
    table: pyarrow.Table

    def at(self, position: int) -> str:
        """Return where row `position`, counted from 0, is: file, line, and the time as it stands there.

        Empty lines are not counted.
        """
        row = f"line {position + 2}" if is_csv(self.path) else f"row {position + 1}"
        try:
            time = self.table["timestamp"][position].as_py()
        except OverflowError:  # Python has no years beyond 9999
            time = None
        return f"{self.path}, {row}" + ("" if time is None else f" ({time})")

    def column(self, name: str) -> pyarrow.ChunkedArray:
        """Return a column; categories become what they stand for."""
        column = self.table[name]
        return column.cast(column.type.value_type) if pyarrow.types.is_dictionary(column.type) else column


def is_csv(path: Path) -> bool:
    """Return whether the name says CSV."""
    return path.suffix.lower() == ".csv"


def read_bar_file(path: Path) -> BarFile:
    """Return time and numbers of all bars in a CSV or Parquet file. Raises UsageError."""
    if path.suffix.lower() not in SUFFIXES:
        raise UsageError(f"{path} is neither .csv nor .parquet; convert it to one of them")
    try:
        with path.open("rb") as file:
            start = file.read(4)
        if not start:
            raise UsageError(f"{path} is empty; get it again")
        table = read_csv(path, start) if is_csv(path) else read_parquet(path, start)
    except OSError as error:
        # From Parquet it is a defect of the content, which has no strerror.
        raise UsageError(f"cannot read {path}: {error.strerror or first_line(error)}") from None
    except pyarrow.ArrowException as error:
        raise UsageError(f"cannot read {path}: {first_line(error)}; correct it or get it again") from None
    return BarFile(path, table)


def first_line(error: Exception) -> str:
    """Return the first line of an error's text."""
    return str(error).partition("\n")[0]


def read_csv(path: Path, start: bytes) -> pyarrow.Table:
    """Return the columns of a CSV file in UTF-8, with commas: times as text, empty cells as null."""
    if start == PARQUET:
        raise UsageError(f"{path} is a Parquet file; rename it to {path.stem}.parquet")
    if start.startswith(COMPRESSED):
        raise UsageError(f"{path} is compressed; unpack it first")
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            header = next(csv.reader(file), [])
    except (UnicodeDecodeError, csv.Error):
        raise UsageError(f"{path} is not CSV in UTF-8; save it as such") from None
    columns = find_columns(header, path)
    table = arrow_csv.read_csv(
        path,
        # One thread: only then do errors say in which row. A year of minutes takes half a second.
        read_options=arrow_csv.ReadOptions(use_threads=False),
        convert_options=arrow_csv.ConvertOptions(
            include_columns=list(columns.values()),
            column_types={columns["timestamp"]: pyarrow.string()},
            strings_can_be_null=True,
        ),
    )
    return table.rename_columns(list(columns))


def read_parquet(path: Path, start: bytes) -> pyarrow.Table:
    """Return the columns of a Parquet file."""
    if start != PARQUET:
        raise UsageError(f"{path} is not a Parquet file: it does not begin with PAR1")
    with parquet.ParquetFile(path) as file:
        columns = find_columns(file.schema_arrow.names, path)
        names = list(columns.values())
        return file.read(names).select(names).rename_columns(list(columns))


# --8<-- [start:find_columns]
def find_columns(header: Sequence[str], path: Path) -> dict[str, str]:
    """Return the columns' names as the file has them, by the keys of `NAMES`.

    Raises UsageError when one is missing or there are two for the same thing: it does not guess.
    """
    columns = {}
    for wanted, accepted in NAMES.items():
        found = [name for name in header if name.strip().lower() in accepted]
        if len(found) > 1:
            join = "join date and time into one, or " if wanted == "timestamp" else ""
            raise UsageError(
                f"{path} has two columns for {wanted}: {found[0]!r} and {found[1]!r}; {join}keep one"
            )
        if found:
            columns[wanted] = found[0]
    if missing := [name for name in NAMES if name not in columns]:
        raise UsageError(
            f"{path} has no column {', '.join(missing)}; it has {shortened(header)}; {header_hint(header)}"
        )
    return columns


# --8<-- [end:find_columns]
def shortened(header: Sequence[str]) -> str:
    """Return the first columns' names in words."""
    names = ", ".join(name[:60] for name in header[:12]) or "none"
    return names + (" …" if len(header) > 12 else "")


def header_hint(header: Sequence[str]) -> str:
    """Return what to do about a header in which columns are missing."""
    if any(re.fullmatch(r"[\d.eE+-]+", name.strip()) for name in header):
        return f"the first line must name the columns: add {','.join(NAMES)}"
    if len(header) == 1 and re.search("[;\t|]", header[0]):
        return "separate the columns with commas"
    return f"name the columns {','.join(NAMES)}"
