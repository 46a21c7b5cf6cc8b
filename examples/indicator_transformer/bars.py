"""Price bars of one symbol, read from a CSV or a Parquet file and checked. Nothing is repaired silently."""

from dataclasses import dataclass
from pathlib import Path

import numpy
import pandas
from matplotlib import cbook

from examples.indicator_transformer.bar_checks import check_bars, in_words
from examples.indicator_transformer.bar_files import NUMBERS, SUFFIXES, read_bar_file
from examples.indicator_transformer.bar_numbers import read_numbers
from examples.indicator_transformer.bar_times import read_times
from snippets.errors import UsageError

MAX_MISSING = 0.01  # share of the bars


# --8<-- [start:bars]
@dataclass(frozen=True)
class Bars:
    """Bars of one symbol, which have passed all checks."""

    symbol: str
    # Columns open, high, low, close, volume in float64; the DatetimeIndex "timestamp" is ascending, without
    # duplicates and in UTC, without saying so (tz-naive).
    table: pandas.DataFrame
    interval: pandas.Timedelta  # the most common distance between two bars
    source: str  # in words, for the user


# --8<-- [end:bars]
# --8<-- [start:read_bars]
def read_bars(path: Path, *, max_missing: float = MAX_MISSING) -> Bars:
    """Return the bars in a CSV or Parquet file; its name without the suffix is the symbol.

    `bar_files.NAMES` lists the columns. Times are ISO 8601 or Unix times; those without a time zone are taken
    for UTC. Raises UsageError, in one line with the file and its first offending row, for whatever is not a
    proper bar, and when more than a share `max_missing` of the bars is missing.
    """
    file = read_bar_file(path)
    times = read_times(file)
    table = pandas.DataFrame({name: read_numbers(file, name) for name in NUMBERS}, index=times)
    if len(table) < 2:
        raise UsageError(f"{path} has too few bars: {len(table)}; two make an interval")
    interval = check_bars(table, max_missing, file.at)
    return Bars(path.stem, table, interval, f"{path}, every {in_words(interval)}")


# --8<-- [end:read_bars]
def read_folder(folder: Path, *, max_missing: float = MAX_MISSING) -> list[Bars]:
    """Return the bars of each <SYMBOL>.csv and <SYMBOL>.parquet in `folder`, sorted by symbol.

    Raises UsageError as `read_bars` does, and when there is no such file, when a symbol comes twice, and when
    the symbols have different intervals. Other files and hidden ones are left alone.
    """
    try:
        paths = [path for path in folder.iterdir() if path.suffix.lower() in SUFFIXES]
    except OSError as error:
        raise UsageError(f"cannot read the folder {folder}: {error.strerror}") from None
    by_symbol: dict[str, Path] = {}
    for path in sorted(path for path in paths if not path.name.startswith(".")):
        # Without regard to case: on a Mac, AAPL.csv and aapl.csv are the same file.
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
    """Return the daily bars of Google that Matplotlib brings along as sample data: nothing to download.

    1,047 trading days from 2004-08-19, the first one of the share, to 2008-10-14. The file also has
    `adj_close`, the close corrected for splits and dividends. It is left out; here it equals the close on
    every day. Raises UsageError where Matplotlib was installed without its sample data.
    """
    path = Path(cbook.get_sample_data("goog.npz", asfileobj=False))
    try:
        days = numpy.load(path, allow_pickle=False)["price_data"]
    except OSError as error:
        raise UsageError(
            f"cannot read {path}: {error.strerror}; install Matplotlib with its sample data, as pip does"
        ) from None
    times = pandas.DatetimeIndex(days["date"].astype("datetime64[us]"), name="timestamp")
    table = pandas.DataFrame({name: days[name].astype("float64") for name in NUMBERS}, index=times)
    return Bars("GOOG", table, pandas.Timedelta(days=1), "Google, daily, sample data of Matplotlib")


# --8<-- [end:load_goog]
