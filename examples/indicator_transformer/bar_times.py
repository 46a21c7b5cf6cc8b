"""The times of bars, as vendors write them: ISO 8601, compact and slashed dates, Unix time in any unit."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy
import pandas
import pyarrow
import pyarrow.compute as compute
from pyarrow import types

from snippets.errors import UsageError

FIRST, LAST = numpy.datetime64("1700-01-01", "us"), numpy.datetime64("2201-01-01", "us")
WRONG = numpy.datetime64("NaT", "us")
ISO = "write times like 2024-01-31 or 2024-01-31T14:30:00Z"
# Unix times by size: each unit covers 1973 to 5138, and no two of them overlap.
UNITS = {"seconds": (10**8, 10**6), "milliseconds": (10**11, 10**3), "microseconds": (10**14, 1)}
NANOSECONDS = 10**17
DIGITS = re.compile(r"\d+(\.0*)?")
COMPACT = {8: "%Y%m%d", 12: "%Y%m%d%H%M", 14: "%Y%m%d%H%M%S", 17: "%Y%m%d%H%M%S"}  # 17: with milliseconds
COMPACT_CLOCK = r"^(\d{4})(\d\d)(\d\d) (\d\d)(\d\d)(\d\d)$"  # of HistData
ZONE = r"(:\d\d(\.\d+)?) ?(Z|UTC|[+-]\d\d(:?\d\d)?)$"
MONTH_NAMED = re.compile(r"[A-Z][a-z]{2} \d\d, \d{4}")  # Jan 31, 2024 of Investing.com until 2022
YEAR_LAST = re.compile(r"(\d\d?)[./-](\d\d?)[./-](\d{4})(.*)")

At = Callable[[int], str]  # from the position of a row, counted from 0, to its description


@dataclass
class TimeReader:
    """Reads the times of one file, part by part, and remembers how they are written."""

    at: At
    units: set[str] = field(default_factory=set)  # of Unix times
    month_first: bool | None = None  # in dates like 01/31/2024; None: there were none
    zoned: bool = False  # whether times have a time zone other than UTC
    naive: bool = False  # whether there are times without a time zone

    def read(
        self, cells: pyarrow.Array, clock: pyarrow.Array | None, rows: numpy.ndarray
    ) -> tuple[numpy.ndarray, numpy.ndarray]:
        """Return the times (rows,) in UTC and as the file writes them, in microseconds.

        `clock` is the time of day when `cells` are dates; `rows` are the positions in the file. Raises
        UsageError for a row without a time from 1700 to 2200.
        """
        if types.is_date(cells.type) or types.is_timestamp(cells.type):
            utc, local = self.of_parquet(cells)
        elif types.is_integer(cells.type) or types.is_floating(cells.type):
            utc = local = self.of_digits(numbers(cells))
        else:
            utc, local = self.of_texts(joined(cells, clock))
        wrong = ~((utc >= FIRST) & (utc < LAST))
        if wrong.any():
            row = int(wrong.argmax())
            columns = [cells] if clock is None else [cells, clock]
            words = [column[row].cast(pyarrow.string()).as_py() or "" for column in columns]
            raise no_time(self.at(int(rows[row])), " ".join(words))
        return utc, local

    def of_parquet(self, cells: pyarrow.Array) -> tuple[numpy.ndarray, numpy.ndarray]:
        """Return dates and times of Parquet, which may have a time zone."""
        zone = getattr(cells.type, "tz", None)
        series = pandas.Series(
            cells.cast(pyarrow.timestamp("s") if types.is_date(cells.type) else cells.type)
        )
        utc = pandas.DatetimeIndex(pandas.to_datetime(series, utc=True)).tz_localize(None)
        self.naive |= zone is None
        if zone is None or zone == "UTC":
            return microseconds(utc), microseconds(utc)
        self.zoned = True
        return microseconds(utc), microseconds(utc.tz_localize("UTC").tz_convert(zone).tz_localize(None))

    def of_digits(self, values: numpy.ndarray) -> numpy.ndarray:
        """Return times (rows,) from whole numbers: dates like 20240131, or Unix times by their size."""
        dates = (values >= 17000101) & (values < 22010101)
        result = numpy.full(len(values), WRONG)
        if dates.any():
            result[dates] = compact(values[dates].astype("<i8").astype(str), 8)
            self.naive = True
        for unit, (least, factor) in UNITS.items():
            inside = (values >= least) & (values < least * 1000)
            if inside.any():
                result[inside] = (values[inside] * factor).astype("<i8").astype("datetime64[us]")
                self.units.add(unit)
        inside = values >= NANOSECONDS
        if inside.any():
            result[inside] = (values[inside].astype("<i8") // 1000).astype("datetime64[us]")
            self.units.add("nanoseconds")
        return result

    def of_texts(self, texts: pyarrow.Array) -> tuple[numpy.ndarray, numpy.ndarray]:
        """Return times in UTC and as they are written, from texts of one kind."""
        sample = next((text for text in texts.slice(0, 1).to_pylist() if text), "")
        if DIGITS.fullmatch(sample):
            length = len(sample.partition(".")[0])
            if length in COMPACT and length > 8:
                self.naive = True
                times = compact(numpy.array(texts.to_pylist(), dtype=object), length)
                return times, times
            whole = compute.replace_substring_regex(texts, r"\.0*$", "")
            safe = compute.if_else(compute.match_substring_regex(whole, r"^\d{1,18}$|^1\d{18}$"), whole, None)
            times = self.of_digits(numbers(safe.cast(pyarrow.int64())))
            return times, times
        texts = compute.replace_substring_regex(texts, r"^(\d{4})[./](\d\d?)[./](\d\d?)", r"\1-\2-\3")
        texts = compute.replace_substring_regex(texts, COMPACT_CLOCK, r"\1-\2-\3 \4:\5:\6")
        texts = compute.replace_substring_regex(texts, r"^(\d{4})(\d\d)(\d\d) (\d\d:)", r"\1-\2-\3 \4")
        if MONTH_NAMED.fullmatch(sample):
            self.naive = True
            times = pandas.to_datetime(pandas.Series(texts), format="%b %d, %Y", errors="coerce")
            times = microseconds(pandas.DatetimeIndex(times))
            return times, times
        if YEAR_LAST.fullmatch(sample):
            texts = self.year_first(texts)
        return self.of_iso(texts)

    def year_first(self, texts: pyarrow.Array) -> pyarrow.Array:
        """Return dates like 01/31/2024 or 31.01.2024 as 2024-01-31. Raises UsageError when both may be."""
        parts = compute.extract_regex(
            texts, r"^(?P<a>\d\d?)(?P<by>[./-])(?P<b>\d\d?)[./-](?P<year>\d{4})(?P<rest>.*)$"
        )
        a, b, year, rest = (parts.field(name) for name in ("a", "b", "year", "rest"))
        if self.month_first is None:
            largest = [compute.max(part.cast(pyarrow.int64())).as_py() or 0 for part in (a, b)]
            dots = parts.field("by")[0].as_py() == "."
            if max(largest) <= 12 and not dots:
                raise UsageError(
                    f"{self.at(0)}: day and month cannot be told apart in the first dates; "
                    "write dates like 2024-01-31"
                )
            self.month_first = largest[1] > 12
        month, day = (a, b) if self.month_first else (b, a)
        month, day = (compute.utf8_lpad(part, 2, "0") for part in (month, day))
        return compute.binary_join_element_wise(
            compute.binary_join_element_wise(year, month, day, "-"), rest, ""
        )

    def of_iso(self, texts: pyarrow.Array) -> tuple[numpy.ndarray, numpy.ndarray]:
        """Return times in UTC and as they are written, from ISO 8601."""
        dated = compute.match_substring_regex(texts, r"^\d{4}-\d\d?-\d\d?($|[T ])")
        texts = compute.if_else(dated, texts, None)
        zoned = compute.match_substring_regex(texts, ZONE)
        if not compute.any(zoned).as_py():
            self.naive = True
            times = of_plain(texts)
            return times, times
        self.naive |= not compute.all(zoned).as_py()
        spelt = compute.replace_substring_regex(texts, r" ?UTC$", "Z")
        utc = microseconds(
            pandas.DatetimeIndex(
                pandas.to_datetime(pandas.Series(spelt), format="ISO8601", utc=True, errors="coerce")
            ).tz_localize(None)
        )
        local = of_plain(compute.replace_substring_regex(texts, ZONE, r"\1"))
        self.zoned |= bool((local != utc).any())
        return utc, local

    def clock(self) -> str:
        """Return the clock of the times as the file writes them, in words."""
        if self.zoned:
            return "by the clock of the file"
        return "as in the file, which names no time zone" if self.naive else "in UTC"

    def notes(self) -> list[str]:
        """Return notes on how the times are read, where that is a guess."""
        notes = []
        if self.units:
            notes.append(f"times are read as Unix {' and '.join(sorted(self.units))}")
        if self.month_first is not None:
            order = "month/day/year" if self.month_first else "day/month/year"
            notes.append(f"dates are read as {order}")
        return notes


def no_time(place: str, cell: str) -> UsageError:
    """Return the error for a cell that is no time."""
    cure = ISO
    if re.fullmatch(r"\d[.,]?\d*E\+\d+", cell.strip(), re.IGNORECASE):
        cure = "Excel has rounded the times; export the file again, and do not save it from Excel"
    return UsageError(f"{place} has no time from 1700 to 2200 but {cell!r:.40}; {cure}")


def joined(cells: pyarrow.Array, clock: pyarrow.Array | None) -> pyarrow.Array:
    """Return stripped texts of date and time of day, if that is separate: 093000 becomes 09:30:00."""
    texts = compute.utf8_trim_whitespace(cells.cast(pyarrow.string()))
    if clock is None:
        return texts
    clock = compute.utf8_trim_whitespace(clock.cast(pyarrow.string()))
    if compute.all(compute.match_substring_regex(clock.slice(0, 1), r"^\d{9,19}$")).as_py():
        return clock  # the whole time, as BaoStock writes it, or Unix time
    clock = compute.if_else(compute.equal(clock, "0"), "000000", clock)  # midnight, as a number
    clock = compute.replace_substring_regex(clock, r"^(\d?\d)(\d\d)$", r"\1:\2")
    clock = compute.replace_substring_regex(clock, r"^(\d?\d)(\d\d)(\d\d)$", r"\1:\2:\3")
    clock = compute.replace_substring_regex(clock, r"^(\d):", r"0\1:")
    texts = compute.replace_substring_regex(texts, r"^(\d{4})(\d\d)(\d\d)$", r"\1-\2-\3")
    return compute.binary_join_element_wise(texts, clock, " ")


def of_plain(texts: pyarrow.Array) -> numpy.ndarray:
    """Return times without a time zone from ISO 8601, and NaT for anything else."""
    try:
        return texts.cast(pyarrow.timestamp("us")).to_numpy(zero_copy_only=False)
    except pyarrow.ArrowInvalid:  # pandas reads more, and says which cell is wrong
        times = pandas.to_datetime(pandas.Series(texts), format="ISO8601", errors="coerce")
        return microseconds(pandas.DatetimeIndex(times))


def compact(texts: numpy.ndarray, length: int) -> numpy.ndarray:
    """Return times from texts of `length` digits, in UTC; other texts give NaT."""
    series = pandas.Series(texts, dtype="str").where(lambda cells: cells.str.len() == length)
    times = pandas.to_datetime(series.str.slice(0, 14), format=COMPACT[length], errors="coerce")
    result = microseconds(pandas.DatetimeIndex(times))
    if length == 17:
        rest = pandas.to_numeric(series.str.slice(14), errors="coerce").fillna(0)
        result = result + rest.to_numpy("<i8").astype("timedelta64[ms]")
    return result


def microseconds(times: pandas.DatetimeIndex) -> numpy.ndarray:
    """Return times in microseconds; those beyond the years of NumPy's range become NaT."""
    try:
        return times.as_unit("us").to_numpy()
    except (pandas.errors.OutOfBoundsDatetime, OverflowError):
        return numpy.full(len(times), WRONG)


def numbers(cells: pyarrow.Array) -> numpy.ndarray:
    """Return whole numbers; -1 where there is none."""
    if types.is_floating(cells.type):
        cells = compute.round(cells).cast(pyarrow.int64(), safe=False)
    return compute.fill_null(cells.cast(pyarrow.int64(), safe=False), -1).to_numpy(zero_copy_only=False)
