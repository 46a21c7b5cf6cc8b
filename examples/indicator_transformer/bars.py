"""Read and check the price bars of a symbol from a CSV or Parquet file. Nothing is repaired silently."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from textwrap import shorten

import numpy
import pandas
from matplotlib import cbook

from examples.indicator_transformer.bar_checks import Where, check_bars, in_words
from examples.indicator_transformer.column_hints import SYMBOLS, advice, several_symbols
from examples.indicator_transformer.table_files import read_table
from examples.programs.array_files import read_npz
from snippets.errors import UsageError

# --8<-- [start:schema]
# In lower or upper case, in any order; other columns are ignored. The timestamp is the start of a bar: in
# ISO 8601, or a date or time of Parquet, from 1700 to 2200; without a time zone it is UTC.
COLUMNS = ("timestamp", "open", "high", "low", "close", "volume")
# --8<-- [end:schema]
NUMBERS = list(COLUMNS[1:])
SUFFIXES = (".csv", ".parquet")
MAX_MISSING = 0.01  # share of the bars
LARGEST = 1e100  # sums and products of larger numbers may be infinite


# --8<-- [start:bars]
@dataclass(frozen=True)
class Bars:
    """The checked bars of one symbol."""

    symbol: str
    # Columns open, high, low, close, volume in float64; the DatetimeIndex "timestamp" is ascending, without
    # duplicates and in UTC, without a time zone (tz-naive).
    table: pandas.DataFrame
    interval: pandas.Timedelta  # the most common distance between two bars
    source: str  # in words, for the user


# --8<-- [end:bars]
# --8<-- [start:read_bars]
def read_bars(path: Path, *, max_missing: float = MAX_MISSING) -> Bars:
    """Return the bars in a CSV or Parquet file; its name without the suffix is the symbol.

    Raises UsageError, which names the file and an offending row, for invalid bars, and when more than a share
    `max_missing` of the bars is missing.
    """
    cells = read_cells(path)
    at = partial(place, path)
    try:
        table = read_numbers(cells[NUMBERS], at).set_index(read_times(cells["timestamp"], at))
        if len(table) < 2:
            raise UsageError(f"{path} has too few bars: {len(table)}; two make an interval")
        interval = check_bars(table, max_missing, at)
    except UsageError as error:
        raise UsageError(f"{error}{several_symbols(cells)}") from None
    return Bars(path.stem, table, interval, f"{path}, every {in_words(interval)}")


# --8<-- [end:read_bars]
def place(path: Path, position: int) -> str:
    """Return the file and line of row `position`, counted from 0 without empty lines."""
    in_csv = path.suffix.lower() == ".csv"
    return f"{path}, line {position + 2}" if in_csv else f"{path}, row {position + 1}"


def read_cells(path: Path) -> pandas.DataFrame:
    """Return the `COLUMNS` of a file, with unchecked cells. Raises UsageError."""
    if path.suffix.lower() not in SUFFIXES:
        raise UsageError(f"{path} is neither .csv nor .parquet; convert it to one of them")
    try:
        names, cells = read_table(path, {*COLUMNS, *SYMBOLS})
    except UsageError:
        raise
    except Exception as error:  # a damaged Parquet file can raise any error
        reason = getattr(error, "strerror", None) or shorten(f"{type(error).__name__}: {error}", 200)
        raise UsageError(f"cannot read {path}: {reason}") from None
    names = [str(name).strip().lower() for name in names]
    cells.columns = [str(name).strip().lower() for name in cells.columns]
    if wrong := [f"one column {name}" for name in COLUMNS if names.count(name) != 1]:
        raise UsageError(
            f"{path} needs {', '.join(wrong)}; it has {shorten(', '.join(names), 200)}; "
            f"{advice(names, ','.join(COLUMNS))}{several_symbols(cells)}"
        )
    return cells


def read_times(cells: pandas.Series, at: Where) -> pandas.DatetimeIndex:
    """Return times in UTC, without a time zone, in microseconds. Raises UsageError."""
    if not pandas.api.types.is_datetime64_any_dtype(cells):
        if cells.dtype == object:  # the conversion accepts bytes that are not UTF-8
            cells = cells.mask(cells.map(lambda cell: isinstance(cell, bytes)))
        text = cells.astype("str")
        cells = text.where(
            text.str.match(r"\d{4}-\d\d-\d\d")
        )  # pandas would also accept "today" and a lone year
    times = pandas.DatetimeIndex(pandas.to_datetime(cells, format="ISO8601", utc=True, errors="coerce"))
    # pandas may count in nanoseconds, which reach from 1677 to 2262.
    wrong = ~((times.year >= 1700) & (times.year <= 2200))
    if wrong.any():
        raise UsageError(
            f"{at(int(wrong.argmax()))} has no time from 1700 to 2200; "
            "write times like 2024-01-31 or 2024-01-31T14:30:00Z"
        )
    return times.tz_localize(None).as_unit("us").rename("timestamp")


def read_numbers(cells: pandas.DataFrame, at: Where) -> pandas.DataFrame:
    """Return all cells as float64. Raises UsageError for one that is empty, text or not finite."""
    numbers = cells.apply(pandas.to_numeric, errors="coerce").astype("float64")
    numbers[cells.select_dtypes(["bool", "timedelta"]).columns] = numpy.nan  # pandas would convert them
    wrong = numpy.argwhere(~(numbers.abs() <= LARGEST).to_numpy())
    if len(wrong):
        row, column = wrong[0]
        raise UsageError(
            f"{at(row)}: {cells.columns[column]} is {cells.iat[row, column]}, not a finite number; "
            f"write numbers like 1234.5, at most {LARGEST:g}, or remove the row"
        )
    return numbers


def read_folder(folder: Path, *, max_missing: float = MAX_MISSING) -> list[Bars]:
    """Return the bars of each <SYMBOL>.csv and <SYMBOL>.parquet in `folder`, sorted by symbol.

    Raises UsageError as `read_bars` does, when there is no such file, when a symbol occurs twice, and when
    the symbols have different intervals. Other files and hidden ones are ignored.
    """
    try:
        paths = [path for path in folder.iterdir() if path.suffix.lower() in SUFFIXES]
    except OSError as error:
        raise UsageError(f"cannot read the folder {folder}: {error.strerror}") from None
    by_symbol: dict[str, Path] = {}
    for path in sorted(path for path in paths if not path.name.startswith(".")):
        # Case is ignored: on a Mac, AAPL.csv and aapl.csv are the same file.
        first = by_symbol.setdefault(path.stem.casefold(), path)
        if first != path:
            raise UsageError(f"{folder} has {path.stem} twice: {first.name} and {path.name}; remove one")
    if not by_symbol:
        raise UsageError(f"{folder} has no file SYMBOL.csv or SYMBOL.parquet; it needs one per symbol")
    all_bars = [read_bars(by_symbol[symbol], max_missing=max_missing) for symbol in sorted(by_symbol)]
    for bars in all_bars[1:]:
        if bars.interval != all_bars[0].interval:
            raise UsageError(
                f"{folder} mixes intervals: {all_bars[0].symbol} has a bar every "
                f"{in_words(all_bars[0].interval)}, {bars.symbol} every {in_words(bars.interval)}; "
                "use one folder for each interval"
            )
    return all_bars


def check_enough(bars: Bars, needed: int) -> None:
    """Raise UsageError when there are fewer than `needed` bars."""
    if len(bars.table) < needed:
        raise UsageError(f"too few bars: {needed} needed, {len(bars.table)} in {bars.source}")


# --8<-- [start:load_goog]
def load_goog() -> Bars:
    """Return the daily bars of Google from Matplotlib's sample data, which need no download.

    They are 1,047 trading days from 2004-08-19, the first one of the share, to 2008-10-14. The file's
    `adj_close`, the close adjusted for splits and dividends, is ignored; it equals the close on every day.
    Raises UsageError when Matplotlib was installed without its sample data.
    """
    path = Path(cbook.get_sample_data("goog.npz", asfileobj=False))
    try:
        days = read_npz(path, ["price_data"])["price_data"]
    except UsageError as error:
        raise UsageError(f"{error}; install Matplotlib with its sample data, as pip does") from None
    times = pandas.DatetimeIndex(days["date"].astype("datetime64[us]"), name="timestamp")
    table = pandas.DataFrame({name: days[name].astype("float64") for name in NUMBERS}, index=times)
    return Bars("GOOG", table, pandas.Timedelta(days=1), "Google, daily, sample data of Matplotlib")


# --8<-- [end:load_goog]
