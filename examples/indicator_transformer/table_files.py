"""Read untrusted tables: a Parquet file of 2,000 bytes can contain a hundred million numbers in one cell."""

import csv
import io
from collections.abc import Collection
from pathlib import Path
from typing import BinaryIO

import pandas
import pyarrow
import pyarrow.compute
from pyarrow import types
from pyarrow.parquet import ParquetFile

from examples.programs.array_files import check_memory
from snippets.foreign_files import LONGEST_LINE, check_unpacked, open_regular, size_of

# foreign_reads: with limits of its own
TEXT = (types.is_string, types.is_large_string, types.is_binary, types.is_large_binary)
NUMBER = (types.is_primitive, types.is_decimal, types.is_null)
CELL = 8  # bytes
MOST_COLUMNS = 1000  # of a CSV file; each column takes kilobytes even without values


def read_table(path: Path, wanted: Collection[str]) -> tuple[list[str], pandas.DataFrame]:
    """Return the names of all columns, and the columns whose name in lower case is `wanted`.

    Raises OSError and ValueError, and any other error for a damaged file.
    """
    with open_regular(path) as file:
        check_memory(path, "it takes", size_of(file))
        if path.suffix.lower() == ".csv":
            check_columns(file)
            cells = pandas.read_csv(file, engine="pyarrow")  # rejects lines of more than a megabyte
            return list(cells.columns), cells
        return read_parquet(path, file, wanted)


def check_columns(file: BinaryIO) -> None:
    """Raise ValueError when a CSV file has too many columns; rewind the file."""
    start = io.StringIO(file.read(LONGEST_LINE).decode("latin-1"), newline="")
    names = next(filter(None, csv.reader(start)), [])
    if len(names) > MOST_COLUMNS:
        raise ValueError(f"its first line has more than {MOST_COLUMNS:,} columns")
    file.seek(0)


def read_parquet(path: Path, file: BinaryIO, wanted: Collection[str]) -> tuple[list[str], pandas.DataFrame]:
    """Return the result of `read_table` for a Parquet file, whose repeated values may take no space."""
    fields = ParquetFile(file).schema_arrow
    chosen = [field for field in fields if field.name.strip().lower() in wanted]
    for field in chosen:
        kind = field.type.value_type if types.is_dictionary(field.type) else field.type
        if not any(fits(kind) for fits in (*NUMBER, *TEXT)):
            raise ValueError(f"the column {field.name} holds {kind}, neither numbers nor texts")
    texts = [field.name for field in chosen if any(fits(field.type) for fits in TEXT)]
    table = ParquetFile(file, read_dictionary=texts)  # equal texts are stored once
    names = [field.name for field in chosen]
    check_unpacked(path, promised(table, names), size_of(file))
    cells = table.read(columns=names)
    check_unpacked(path, sum(map(spelt_out, cells.columns)), size_of(file))
    plain = [
        column.cast(column.type.value_type) if types.is_dictionary(column.type) else column
        for column in cells.columns
    ]
    cells = pyarrow.table(plain, names=cells.column_names)
    return fields.names, cells.to_pandas(ignore_metadata=True)


def promised(table: ParquetFile, names: Collection[str]) -> int:
    """Return the bytes of columns in memory by the file's metadata, without repeated texts."""
    groups = [table.metadata.row_group(number) for number in range(table.num_row_groups)]
    columns = [group.column(number) for group in groups for number in range(group.num_columns)]
    columns = [column for column in columns if column.path_in_schema in names]
    return sum(max(CELL * column.num_values, column.total_uncompressed_size) for column in columns)


def spelt_out(column: pyarrow.ChunkedArray) -> int:
    """Return an upper bound of the bytes of a column when each row has its own copy of its text."""
    if not types.is_dictionary(column.type) or not any(fits(column.type.value_type) for fits in TEXT):
        return CELL * len(column)
    longest = (pyarrow.compute.max(pyarrow.compute.binary_length(part.dictionary)) for part in column.chunks)
    return len(column) * max((size.as_py() or 0 for size in longest), default=0)
