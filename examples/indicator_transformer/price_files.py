"""Read the bars in one file of any known form. No bar is invented, and what is left out is counted."""

import re
from collections import Counter
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path

import numpy
import pyarrow
import pyarrow.compute as compute
from pyarrow import types
from tqdm import tqdm

from examples.indicator_transformer.bar_columns import (
    NAMES,
    Columns,
    are_bars,
    are_chinese,
    find_columns,
    is_yfinance,
    of_yfinance,
    without_header,
)
from examples.indicator_transformer.bar_numbers import read_numbers
from examples.indicator_transformer.bar_times import At, TimeReader
from examples.programs.tables import PACKED_SUFFIXES, Table, open_table
from snippets.errors import UsageError

MOST_ROWS = 20_000_000  # of all files: about 5 GB in memory until they are checked
HEADER = [name for name in NAMES["time"] if name] + ["price", "ticker"]
NAMED = {  # forms of the names that vendors give to files, and the symbol in them
    r"(.+?)-\d+[a-z]+-\d{4}-\d\d(-\d\d)?": r"\1",  # BTCUSDT-1m-2024-01 of Binance
    r"DAT_[a-z]+_(.+?)_M1_\d{4,6}": r"\1",  # DAT_ASCII_EURUSD_M1_202401 of HistData
    r"(.+?)_Candlestick_\d.*": r"\1",  # EURUSD_Candlestick_1_Hour_BID_01.01.2024-26.10.2024 of Dukascopy
    r"(SH|SZ|BJ)#(\d{6})": r"\2.\1",  # SH#600519 of TDX; the number alone may be an index elsewhere
}
WITHOUT_PRICES = "rows dropped, in which prices are missing"
WITHOUT_VOLUME = "rows with an empty volume, which counts as 0"
WITHOUT_TRADE = "days dropped, without trade: their PRC below 0 is CRSP's average of bid and ask"
OTHER_LINES = "lines left out, above or below the table"
TEXT_OF = "line left out: "
AGAIN_HEADER = "lines dropped, which repeat the header"

Notes = Counter[str]  # what the user should know, and of how many rows; 0: of the whole file


@dataclass
class Part:
    """The bars of one symbol in one file, in the order of the file."""

    symbol: str
    utc: numpy.ndarray  # (bars,) datetime64[us]
    local: numpy.ndarray  # (bars,) the same by the clock of the file
    values: numpy.ndarray  # (bars, 5) float64, in the order of NUMBERS
    rows: numpy.ndarray  # (bars,) int64: positions in the file, counted from 0
    at: At
    joinable: bool  # whether other files may have more bars of the symbol
    clock: str  # of `local`, in words
    notes: Notes = field(default_factory=Notes)


def read_file(path: Path) -> list[Part]:
    """Return the bars of each symbol in a file, as `open_table` reads it. Raises UsageError in one line."""
    table = open_table(path, lambda cells: not are_bars(cells) and not is_yfinance(cells), are_chinese)
    if not table.has_header and table.names and table.names[0] == "1" and table.of_lines:
        first = first_rows(table, 3)
        if len(first) == 3 and is_yfinance(first[0]):
            shares, lines = of_yfinance(path, first)
            found = (read_part(table, columns, name, lines) for name, columns in shares.items())
            return [part for parts in found for part in parts]
        return read_part(table, without_header(path, first[0]), symbol_of(path), 0)
    return read_part(table, find_columns(path, table.names), symbol_of(path), 0)


def first_rows(table: Table, count: int) -> list[list[str]]:
    """Return the stripped cells of the first rows."""
    batch = next(table.batches(table.names), None)
    rows = [] if batch is None else batch.slice(0, count).to_pylist()
    return [[str(cell or "").strip() for cell in row.values()] for row in islice(rows, count)]


def symbol_of(path: Path) -> str:
    """Return the symbol that a file is named after: BTCUSDT of BTCUSDT-1m-2024-01.zip, a.us of a.us.txt."""
    name = path.stem if path.suffix.lower() in PACKED_SUFFIXES else path.name
    stem = Path(name).stem if name != path.stem or "." in name else name
    for form, symbol in NAMED.items():
        if named := re.fullmatch(form, stem, re.IGNORECASE):
            return named.expand(symbol)
    return stem


def read_part(table: Table, columns: Columns, symbol: str, skip: int) -> list[Part]:
    """Return the bars in these columns by symbol, after `skip` rows. Raises UsageError."""
    notes, times = Notes(dict.fromkeys(columns.notes, 0)), TimeReader(table.row)
    pieces: list[tuple[numpy.ndarray, ...]] = []
    names: dict[str, int] = {}
    headers: list[int] = []  # positions of lines that repeat the header
    first = kept = 0
    with tqdm(desc=table.path.name, unit=" rows", unit_scale=True, disable=None, leave=False) as bar:
        for batch in table.batches(columns.all()):
            rows = first + numpy.arange(batch.num_rows)
            first += batch.num_rows
            batch, rows = without_headers(batch, rows, skip, headers)
            values = read_numbers(batch, rows, table.row)
            whole = with_prices(values, columns, notes)
            batch, rows = batch.filter(pyarrow.array(whole)), rows[whole]
            kept += len(rows)
            check_rows(table.path, kept)
            if len(rows):
                clock = batch.column(columns.clock) if columns.clock else None
                utc, local = times.read(batch.column(columns.time), clock, rows)
                codes = symbol_codes(batch, columns.symbol, symbol, names)
                pieces.append((utc, local, values[whole], rows, codes))
            bar.update(len(rows))
    if not pieces:
        dropped = f"; {WITHOUT_PRICES}: {notes[WITHOUT_PRICES]:,}" if notes[WITHOUT_PRICES] else ""
        raise UsageError(f"{table.path} has too few bars: 0; two make an interval{dropped}")
    notes.update(dict.fromkeys(times.notes(), 0))
    if table.encoding != "utf-8":
        notes[f"text is read as {table.encoding.upper()}"] = 0
    joinable = columns.symbol is not None or symbol != table.path.stem
    utc, local, values, rows, codes = map(numpy.concatenate, zip(*pieces, strict=True))
    whole_file = Part(
        symbol, utc, local, values, rows, table.row, joinable=joinable, clock=times.clock(), notes=notes
    )
    for words, count in ((AGAIN_HEADER, len(headers)), (OTHER_LINES, len(table.left_out))):
        if count:
            notes[words] = count
    notes.update(dict.fromkeys((TEXT_OF + line for line in table.left_out if line.strip()), 0))
    found = []
    for piece in numpy.split(numpy.arange(len(rows)), numpy.searchsorted(rows, headers)):
        if len(piece):  # of several files in one
            found += by_symbol(taken(whole_file, piece), codes[piece], list(names) or [symbol])
            whole_file.notes = Notes()
    return found


def with_prices(values: numpy.ndarray, columns: Columns, notes: Notes) -> numpy.ndarray:
    """Return which rows (rows,) of `values` (rows, 5) have all prices, and count the others.

    An empty volume becomes 0.
    """
    empty = numpy.isnan(values)
    whole = ~empty[:, :4].any(1)
    untraded = numpy.full(len(values), columns.below_zero) & (values[:, 3] < 0)
    empty_volume = whole & ~untraded & empty[:, 4]
    values[empty_volume, 4] = 0
    counts = {WITHOUT_TRADE: untraded, WITHOUT_PRICES: ~whole & ~untraded, WITHOUT_VOLUME: empty_volume}
    notes.update({words: int(rows.sum()) for words, rows in counts.items() if rows.any()})
    return whole & ~untraded


def check_rows(source: Path, count: int) -> None:
    """Raise UsageError for more bars than are worked on at once."""
    if count > MOST_ROWS:
        raise UsageError(
            f"{source} has more than {MOST_ROWS:,} bars; use fewer symbols, a shorter time, or longer bars"
        )


def without_headers(
    batch: pyarrow.RecordBatch, rows: numpy.ndarray, skip: int, headers: list[int]
) -> tuple[pyarrow.RecordBatch, numpy.ndarray]:
    """Return the rows after the first `skip` ones, without those that repeat the header.

    The positions of these are added to `headers`.
    """
    keep = rows >= skip
    if types.is_string(batch.column(0).type) or types.is_large_string(batch.column(0).type):
        cells = compute.utf8_lower(compute.utf8_trim(batch.column(0), " <>\t"))
        again = compute.fill_null(compute.is_in(cells, pyarrow.array(HEADER)), False)
        again = again.to_numpy(zero_copy_only=False) & keep
        if again.any():
            headers += rows[again].tolist()
            keep &= ~again
    return (batch, rows) if keep.all() else (batch.filter(pyarrow.array(keep)), rows[keep])


def symbol_codes(
    batch: pyarrow.RecordBatch, column: str | None, symbol: str, names: dict[str, int]
) -> numpy.ndarray:
    """Return the number of each row's symbol (rows,) in `names`, to which new symbols are added."""
    if column is None:
        return numpy.zeros(batch.num_rows, "<i4")
    encoded = batch.column(column).cast(pyarrow.string()).fill_null("").dictionary_encode()
    own = [names.setdefault(text.strip() or symbol, len(names)) for text in encoded.dictionary.to_pylist()]
    return numpy.array(own, "<i4")[encoded.indices.to_numpy(zero_copy_only=False)]


def taken(part: Part, rows: numpy.ndarray) -> Part:
    """Return the rows of a part at these positions; all of them are not copied."""
    if len(rows) == len(part.rows):
        return replace(part)
    columns = {name: getattr(part, name)[rows] for name in ("utc", "local", "values", "rows")}
    return replace(part, **columns)


def by_symbol(part: Part, codes: numpy.ndarray, names: list[str]) -> list[Part]:
    """Return a part for each symbol that it has, whose rows stay in the order of the file."""
    whole_file = Notes({words: 0 for words, count in part.notes.items() if not count})
    found: list[Part] = []
    order = numpy.argsort(codes, kind="stable") if len(names) > 1 else numpy.arange(len(codes))
    ends = numpy.bincount(codes, minlength=len(names)).cumsum()
    for name, rows in zip(names, numpy.split(order, ends[:-1]), strict=True):
        if len(rows):  # what is counted is counted once
            notes = whole_file if found else part.notes
            found.append(replace(taken(part, rows), symbol=name, notes=notes))
    return found
