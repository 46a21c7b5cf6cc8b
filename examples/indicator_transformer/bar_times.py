"""Make UTC of a column of times: text in ISO 8601, Unix times, or what Parquet has for dates and times."""

from datetime import datetime

import numpy
import pandas
import pyarrow
from pyarrow import compute

from examples.indicator_transformer.bar_files import BarFile
from snippets.errors import UsageError

# --8<-- [start:unix_units]
# A Unix time says its unit by its size. In each of them, these are the numbers from 1973-03-03 to 5138-11-16.
UNIX_UNITS = {"s": (1e8, 1e11), "ms": (1e11, 1e14), "us": (1e14, 1e17), "ns": (1e17, 1e20)}
# --8<-- [end:unix_units]
MICROSECONDS = {"s": 1e6, "ms": 1e3, "us": 1.0, "ns": 1e-3}
DATE = r"^\d{4}-\d{1,2}-\d{1,2}"
ZONE = r"(?i)(z|[t ]\d\d.*[+-]\d\d(:?\d\d)?)$"  # Z, or an offset after a time of day
DATES = {8: "%Y%m%d", 10: "%Y%m%d%H", 12: "%Y%m%d%H%M", 14: "%Y%m%d%H%M%S"}  # by number of digits
YEARS = (1700, 2200)  # pandas may count in nanoseconds, which reach from 1677 to 2262
ADVICE = "write times like 2024-01-31 or 2024-01-31T14:30:00Z"


def read_times(file: BarFile) -> pandas.DatetimeIndex:
    """Return the times of all bars in UTC, without a time zone, in microseconds; its name is "timestamp".

    Times without a zone are taken for UTC. Raises UsageError, naming the first row, for a time that cannot be
    read, is missing or lies outside `YEARS`.
    """
    column = file.column("timestamp")
    kind, is_type = column.type, pyarrow.types
    if column.null_count:
        position = first(column.is_null().to_numpy())
        raise UsageError(f"{file.at(position)} has no time; {ADVICE}, or remove the row")
    if is_type.is_timestamp(kind) or is_type.is_date(kind):
        times = arrow_times(column, file)
    elif is_type.is_integer(kind) or is_type.is_floating(kind):
        times = unix_times(column.to_numpy(), file)
    elif is_type.is_string(kind) or is_type.is_large_string(kind):
        times = text_times(compute.utf8_trim_whitespace(column), file)
    else:
        raise UsageError(f"{file.path}: timestamp holds {kind}, not times; {ADVICE}")
    if times.tz is not None:
        times = times.tz_convert("UTC").tz_localize(None)
    check_years(times, file)
    return times.as_unit("us").rename("timestamp")


def arrow_times(column: pyarrow.ChunkedArray, file: BarFile) -> pandas.DatetimeIndex:
    """Return dates or times of Parquet, in their time zone if they have one."""
    try:
        return pandas.DatetimeIndex(column.to_pandas(date_as_object=False))
    except (pyarrow.ArrowException, KeyError):  # the latter from zoneinfo and pytz
        zone = column.type.tz
        raise UsageError(
            f"{file.path}: timestamp has the unknown time zone {zone!r}; write it in UTC"
        ) from None


def check_years(times: pandas.DatetimeIndex, file: BarFile) -> None:
    """Raise UsageError unless all times, in UTC and without a time zone, lie in `YEARS`."""
    start, end = numpy.datetime64(f"{YEARS[0]}"), numpy.datetime64(f"{YEARS[1] + 1}")
    outside = (times < start) | (times >= end)
    if outside.any():
        position = first(outside)
        time = times.to_numpy()[position]  # NumPy prints years of five digits, too
        raise UsageError(
            f"{file.at(position)}: {time} lies outside the years {YEARS[0]} to {YEARS[1]}; "
            "correct the time or remove the row"
        )


def text_times(text: pyarrow.ChunkedArray, file: BarFile) -> pandas.DatetimeIndex:
    """Return times written as ISO 8601 or as Unix times; what the first one is, all have to be."""
    if len(text) and text[0].as_py().replace(".", "", 1).isdigit():
        numbers = pandas.to_numeric(text.to_pandas(), errors="coerce")
        return unix_times(numbers.to_numpy(), file)
    # pandas alone would read "today" as well, and a lone year.
    parsed = pandas.to_datetime(text.to_pandas(), format="ISO8601", utc=True, errors="coerce")
    times = pandas.DatetimeIndex(parsed)
    wrong = times.isna() | ~compute.match_substring_regex(text, DATE).to_numpy()
    if wrong.any():
        raise UsageError(f"{file.at(first(wrong))}: this time cannot be read; {ADVICE}")
    zoned = compute.match_substring_regex(text, ZONE).to_numpy()
    if (zoned != zoned[:1]).any():
        position = first(zoned != zoned[:1])
        raise UsageError(
            f"{file.at(position)}: some times have a time zone and others, like this one or the first, have "
            "none; write one for all of them or for none"
        )
    return times


def unix_times(numbers: numpy.ndarray, file: BarFile) -> pandas.DatetimeIndex:
    """Return the times of Unix times (bars,), integers or not, all of them in the unit of the first one."""
    earliest = numbers[0] if len(numbers) else 0.0
    if is_date(f"{earliest:.0f}"):
        raise UsageError(f"{file.at(0)}: {earliest:.0f} is a date without separators; {ADVICE}")
    unit = next((unit for unit, (low, high) in UNIX_UNITS.items() if low <= earliest < high), "s")
    low, high = UNIX_UNITS[unit]
    wrong = ~((numbers >= low) & (numbers < high))  # NaN is never inside
    if wrong.any():
        raise UsageError(
            f"{file.at(first(wrong))}: this is no Unix time in {unit}, which lies from {low:g} to {high:g}; "
            f"use one unit in the whole file, or {ADVICE}"
        )
    microseconds = numpy.rint(numbers * MICROSECONDS[unit]).astype("int64")
    return pandas.DatetimeIndex(microseconds.view("datetime64[us]"))


def is_date(digits: str) -> bool:
    """Return whether `digits` are a date of 1900 to 2099 such as 20240131, with or without a time of day.

    Some of them could be Unix times as well: of 1976, or of the years from 2030 on.
    """
    try:
        datetime.strptime(digits, DATES[len(digits)])
    except (KeyError, ValueError):
        return False
    return digits[:2] in ("19", "20")


def first(mask: numpy.ndarray) -> int:
    """Return the position of the first True in `mask`."""
    return int(mask.argmax())
