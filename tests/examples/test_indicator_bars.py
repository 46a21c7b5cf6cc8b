"""Reading price bars: what is accepted, what is refused and in which words, and the sample data."""

import gzip
import shutil

import numpy
import pandas
import pyarrow
import pytest
from matplotlib import cbook
from pyarrow import parquet

from examples.indicator_transformer.bar_checks import check_bars, in_words
from examples.indicator_transformer.bars import Bars, check_enough, load_goog, read_bars, read_folder
from snippets.errors import UsageError

HEADER = "timestamp,open,high,low,close,volume"
ROW = "{},10,12,9,11,100"
MINUTES = [f"2024-01-02 14:{minute}" for minute in range(30, 36)]


@pytest.fixture
def write(tmp_path):
    """Return a function that writes text, or bars at given times, into a file and returns its path."""

    def call(text, name="ACME.csv"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        if isinstance(text, list):
            text = "\n".join([HEADER, *(ROW.format(time) for time in text)]) + "\n"
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    return call


def with_row(row, at=3):
    """Return the text of six minute bars of which one row is replaced; its line number is at + 2."""
    rows = [ROW.format(time) for time in MINUTES]
    return "\n".join([HEADER, *rows[:at], row, *rows[at + 1 :]])


def refused(path, *parts, **options):
    """Assert that reading fails with an error in one line that contains the path and the given parts."""
    with pytest.raises(UsageError) as failure:
        read_bars(path, **options)
    text = str(failure.value)
    assert "\n" not in text
    assert str(path) in text
    for part in parts:
        assert part in text, text
    return text


def random_bars(times, seed=0):
    """Return proper bars with full-precision numbers."""
    random = numpy.random.default_rng(seed)
    close = 100 * numpy.exp(random.normal(0, 1e-3, len(times)).cumsum())
    opening = numpy.concatenate([[100.0], close[:-1]])
    columns = {
        "open": opening,
        "high": numpy.maximum(opening, close) * 1.0007,
        "low": numpy.minimum(opening, close) * 0.9993,
        "close": close,
        "volume": random.integers(0, 10_000, len(times)).astype(float),
    }
    return pandas.DataFrame(columns, index=pandas.DatetimeIndex(times, name="timestamp"))


@pytest.fixture
def day():
    """Return a day of minute bars."""
    return random_bars(pandas.date_range("2024-01-02", periods=1440, freq="min"))


# What is accepted


def test_csv_and_parquet_give_the_bars_that_were_written(tmp_path, day):
    day.to_csv(tmp_path / "ACME.csv")
    day.to_parquet(tmp_path / "ACME.parquet")
    for suffix in (".csv", ".parquet"):
        bars = read_bars(tmp_path / f"ACME{suffix}")
        pandas.testing.assert_frame_equal(bars.table, day, check_exact=True, check_freq=False)
        assert bars.symbol == "ACME"
        assert bars.interval == pandas.Timedelta(minutes=1)
        assert bars.source == f"{tmp_path / f'ACME{suffix}'}, every 1 minute"


def test_the_index_is_in_utc_without_saying_so(write):
    index = read_bars(write(MINUTES)).table.index
    assert index.name == "timestamp"
    assert index.dtype == "datetime64[us]"
    assert list(index.strftime("%Y-%m-%d %H:%M")) == MINUTES


@pytest.mark.parametrize(
    "header",
    [
        "Date,Open,High,Low,Close,Volume",
        "datetime,o,h,l,c,v",
        "t,O,H,L,C,V",
        "Open time,Open,High,Low,Close,Volume",
        "window_start,open,high,low,close,volume",
        "\ufeffTIME, OPEN, HIGH, LOW, CLOSE, VOLUME",
    ],
)
def test_column_names_of_several_vendors(write, header):
    text = "\r\n".join([header, *(ROW.format(time) for time in MINUTES)])
    pandas.testing.assert_frame_equal(read_bars(write(text)).table, read_bars(write(MINUTES)).table)


def test_further_columns_are_ignored_and_the_order_is_free(write):
    rows = [f"{100 + i},x,11,9,12,10,2024-01-{i + 2:02},10.5" for i in range(3)]
    table = read_bars(write("\n".join(["Volume,name,Close,Low,High,Open,Date,Adj Close", *rows]))).table
    assert list(table.columns) == ["open", "high", "low", "close", "volume"]
    assert table.iloc[1].tolist() == [10, 12, 9, 11, 101]


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        (["2024-01-02", "2024-01-03"], "2024-01-02 00:00"),
        (["2024-01-02T14:30:00", "2024-01-02T14:31:00"], "2024-01-02 14:30"),
        (["2024-01-02T14:30:00Z", "2024-01-02T14:31:00Z"], "2024-01-02 14:30"),
        (["2024-01-02T09:30-05", "2024-01-02T09:31-05"], "2024-01-02 14:30"),
        (["2024-01-02 22:30:00+0800", "2024-01-02 22:31:00+0800"], "2024-01-02 14:30"),
        (["2024-01-02 09:30:00 -05:00", "2024-01-02 09:31:00 -05:00"], "2024-01-02 14:30"),
        ([1704205800, 1704205860], "2024-01-02 14:30"),
        (["1704205800.0", "1704205860.0"], "2024-01-02 14:30"),
        ([1704205800_000, 1704205860_000], "2024-01-02 14:30"),
        ([1704205800_000_000, 1704205860_000_000], "2024-01-02 14:30"),
        ([1704205800_000_000_000, 1704205860_000_000_000], "2024-01-02 14:30"),
    ],
)
def test_time_formats(write, tmp_path, times, expected):
    bars = read_bars(write(times))
    assert bars.table.index[0] == pandas.Timestamp(expected)
    # The same cells as they are in Parquet: text stays text, numbers stay numbers.
    columns = {
        name: [value] * 2 for name, value in zip(HEADER.split(",")[1:], (10, 12, 9, 11, 100), strict=True)
    }
    parquet.write_table(pyarrow.table({"timestamp": times, **columns}), tmp_path / "ACME.parquet")
    pandas.testing.assert_frame_equal(read_bars(tmp_path / "ACME.parquet").table, bars.table)


def test_offsets_may_change_with_daylight_saving_time(write):
    bars = read_bars(write(["2024-03-08 00:00-05:00", "2024-03-09 00:00-05:00", "2024-03-11 00:00-04:00"]))
    assert list(bars.table.index.hour) == [5, 5, 4]
    assert bars.interval == pandas.Timedelta(days=1)


@pytest.mark.parametrize("change", ["zone", "date32", "categories", "nanoseconds", "float32", "decimal"])
def test_types_of_parquet(tmp_path, change):
    times = pandas.date_range("2024-01-02", periods=5)
    table = random_bars(times).round(2)
    arrow = pyarrow.Table.from_pandas(table.reset_index())
    time = arrow["timestamp"]
    replaced = {
        "zone": ("timestamp", pyarrow.array(times.tz_localize("America/New_York"))),
        "date32": ("timestamp", time.cast(pyarrow.date32())),
        "categories": ("timestamp", time.cast(pyarrow.string()).dictionary_encode()),
        "nanoseconds": ("timestamp", time.cast(pyarrow.timestamp("ns"))),
        "float32": ("volume", arrow["volume"].cast(pyarrow.float32())),
        "decimal": ("close", arrow["close"].cast(pyarrow.decimal128(9, 2))),
    }
    name, column = replaced[change]
    arrow = arrow.set_column(arrow.column_names.index(name), name, column)
    parquet.write_table(arrow, tmp_path / "A.parquet")
    if change == "zone":
        table.index += pandas.Timedelta(hours=5)
    pandas.testing.assert_frame_equal(read_bars(tmp_path / "A.parquet").table, table, check_freq=False)


def test_a_folder_that_looks_like_a_partition_adds_no_column(tmp_path, day):
    path = tmp_path / "open=7" / "A.parquet"
    path.parent.mkdir()
    day.to_parquet(path)
    assert read_bars(path).table["open"].iloc[0] == 100.0


def test_zero_volume_and_text_that_is_a_number_are_fine(write):
    table = read_bars(write(with_row('2024-01-02 14:33,"10","12","9",1.1e1,0'))).table
    assert table.iloc[3].tolist() == [10, 12, 9, 11, 0]


def test_rounding_of_adjusted_prices_is_no_defect(write):
    read_bars(write(with_row("2024-01-02 14:33,10,11.999999999999998,9,12,100")))


# What is refused: rows


@pytest.mark.parametrize(
    ("row", "parts"),
    [
        ("2024-01-02 14:33,,12,9,11,100", ["an empty cell or NaN", "open nan"]),
        ("2024-01-02 14:33,10,12,9,NaN,100", ["an empty cell or NaN", "close nan"]),
        ("2024-01-02 14:33,10,12,9,null,100", ["an empty cell or NaN"]),
        ("2024-01-02 14:33,10,12,0,11,100", ["a price that is not above zero", "low 0"]),
        ("2024-01-02 14:33,10,12,-9,11,100", ["a price that is not above zero", "low -9"]),
        ("2024-01-02 14:33,10,12,9,11,-1", ["a negative volume", "volume -1"]),
        ("2024-01-02 14:33,10,inf,9,11,100", ["an infinite number", "high inf"]),
        ("2024-01-02 14:33,10,12,9,11,-inf", ["an infinite number"]),
        ("2024-01-02 14:33,10,10.5,9,11,100", ["a high below its open or close", "high 10.5"]),
        ("2024-01-02 14:33,13,12,9,11,100", ["a high below its open or close", "open 13"]),
        ("2024-01-02 14:33,10,12,10.5,11,100", ["a low above its open or close", "low 10.5"]),
        ("2024-01-02 14:33,10,12,9,8,100", ["a low above its open or close", "close 8"]),
        ('2024-01-02 14:33,"1,010.00",12,9,11,100', ["open is '1,010.00'", "thousands separators"]),
        ("2024-01-02 14:33,10,12,9,eleven,100", ["close is 'eleven'", "not a number"]),
        ("2024-01-02 14:33,10,12,9,true,100", ["close is 'true'", "not a number"]),
    ],
)
def test_a_row_that_is_no_bar(write, row, parts):
    refused(write(with_row(row)), "line 5 (2024-01-02 14:33)", *parts)


def test_text_is_found_behind_an_empty_cell(write):
    text = with_row("2024-01-02 14:33,10,12,9,,100") + "\n2024-01-02 14:36,10,12,9,eleven,100"
    refused(write(text), "line 8 (2024-01-02 14:36)", "close is 'eleven'")


def test_the_number_of_further_bad_rows_is_told(write):
    bad = "\n".join(f"2024-01-02 14:{minute},10,12,0,11,100" for minute in range(36, 39))
    refused(write(with_row(ROW.format(MINUTES[3])) + "\n" + bad), "line 8", "and 2 more such rows")


def test_a_column_of_truth_values_holds_no_numbers(write):
    text = "\n".join([HEADER, *(f"{time},10,12,9,11,true" for time in MINUTES)])
    refused(write(text), "line 2", "volume is 'true'")


def test_rows_of_parquet_are_counted_from_one(tmp_path, day):
    day.iloc[7, 3] = numpy.nan
    day.to_parquet(tmp_path / "A.parquet")
    refused(tmp_path / "A.parquet", "row 8 (2024-01-02 00:07:00)", "an empty cell or NaN", "close nan")


def test_parquet_column_that_is_no_number(tmp_path, day):
    day["close"] = [[price] for price in day["close"]]
    day.to_parquet(tmp_path / "A.parquet")
    refused(tmp_path / "A.parquet", "close holds list")


@pytest.mark.parametrize(
    ("times", "parts"),
    [
        (
            ["14:30", "14:32", "14:31"],
            ["line 4 (2024-01-02 14:31)", "earlier than the row before it; sort the rows by time, or give"],
        ),
        (["14:32", "14:31", "14:30"], ["line 2 (2024-01-02 14:32)", "the latest bar", "sort the rows"]),
        (["14:30", "14:31", "14:31"], ["line 4 (2024-01-02 14:31)", "and the same values", "remove one"]),
    ],
)
def test_order_of_the_rows(write, times, parts):
    refused(write([f"2024-01-02 {time}" for time in times]), *parts)


def test_two_bars_of_one_time_that_contradict_each_other(write):
    refused(write(with_row("2024-01-02 14:32,10,12,9,11.5,100")), "line 5", "other values", "remove one")


def test_local_times_at_the_end_of_daylight_saving(write):
    local = pandas.date_range("2024-11-03", "2024-11-04", freq="15min", tz="America/New_York")
    naive = [str(time) for time in local.tz_localize(None)]
    refused(write(naive), "line 10 (2024-11-03 01:00:00)", "earlier", "times with their offset from UTC")
    hours = "\n".join([HEADER, *(f"{time},10,12,9,{11 + i / 100},1" for i, time in enumerate(naive[::4]))])
    refused(write(hours), "line 4 (2024-11-03 01:00:00)", "other values", "times with their offset from UTC")
    assert len(read_bars(write([str(time) for time in local]), max_missing=0).table) == 101


# What is refused: times


@pytest.mark.parametrize(
    "time", ["01/02/2024", "2024-13-01", "2024-01-02 25:00", "noon", "2024", "today", "now"]
)
def test_a_time_that_cannot_be_read(write, time):
    refused(write([*MINUTES, time]), f"line 8 ({time})", "cannot be read", "2024-01-31T14:30:00Z")


def test_a_row_without_time(write):
    refused(write(with_row(",10,12,9,11,100")), "line 5 has no time")


@pytest.mark.parametrize("time", ["2024-01-02 14:36Z", "2024-01-02T14:36+00", "2024-01-02 14:36:00 -00:00"])
def test_times_with_and_without_zone(write, time):
    refused(write([*MINUTES, time]), f"line 8 ({time})", "have a time zone")


@pytest.mark.parametrize("time", [20240102, 2024010223, 202401022359, 20240102235959])
def test_a_date_without_separators_is_not_taken_for_a_unix_time(write, time):
    refused(write([time, time + 1]), f"line 2 ({time})", "is a date without separators; write times like")


@pytest.mark.parametrize(
    ("times", "place"),
    [
        ([0, 1, 2], "line 2 (0)"),  # a row number
        ([1704205800, 1704205860_000], "line 3 (1704205860000)"),  # two units
        ([1704205800, "later"], "line 3 (later)"),
    ],
)
def test_a_number_that_is_no_unix_time(write, times, place):
    refused(write(times), place, "no Unix time in s", "one unit")


def test_parquet_time_of_another_type(tmp_path, day):
    table = day.reset_index()
    table["timestamp"] = table["timestamp"].dt.time
    table.to_parquet(tmp_path / "A.parquet")
    refused(tmp_path / "A.parquet", "timestamp holds time64", "not times")


@pytest.mark.parametrize(
    ("times", "parts"),
    [
        (["2300-01-02", "2300-01-03"], ["line 2 (2300-01-02)", "2300-01-02T00:00:00"]),
        (["2024-01-02", "2201-01-01"], ["line 3 (2201-01-01)"]),
        (["1699-12-31T23:59Z", "1700-01-01T00:00Z"], ["line 2 (1699-12-31T23:59Z)"]),
        ([99_999_999_939, 99_999_999_999], ["line 2 (99999999939)", "5138-11-16T09:45:39"]),
        ([9_999_999_999_000, 9_999_999_999_060], ["line 2 (9999999999000)", "2286-11-20T17:46:39"]),
    ],
)
def test_a_time_that_nanoseconds_may_not_reach(write, times, parts):
    refused(write(times), *parts, "outside the years 1700 to 2200; correct the time or remove the row")


def test_the_first_and_the_last_year(write):
    for year in (1700, 2200):
        table = read_bars(write([f"{year}-01-01", f"{year}-12-31"]), max_missing=1).table
        assert list(table.index.as_unit("ns").year) == [year, year]


@pytest.mark.parametrize("unit", ["s", "ms", "us"])
@pytest.mark.parametrize("zone", [None, "Asia/Shanghai"])
def test_parquet_time_beyond_the_years_of_python(tmp_path, day, unit, zone):
    count = {"s": 1, "ms": 10**3, "us": 10**6}[unit]
    # The year 11476; in seconds also one that microseconds do not reach.
    for seconds, year in ((3 * 10**11, "11476"), (10**15, "31690708"))[: 2 if unit == "s" else 1]:
        times = pyarrow.array([seconds * count, (seconds + 60) * count], pyarrow.timestamp(unit, zone))
        table = pyarrow.table({"timestamp": times, **{name: day[name][:2] for name in day}})
        parquet.write_table(table, tmp_path / "A.parquet")
        read = parquet.read_table(tmp_path / "A.parquet")["timestamp"].type
        assert read.tz == zone
        refused(tmp_path / "A.parquet", "A.parquet, row 1: ", year, "outside the years 1700 to 2200")


def test_parquet_time_zone_that_nobody_knows(tmp_path, day):
    times = pyarrow.array(day.index).cast(pyarrow.timestamp("us", "Foo/Bar"))
    table = {"timestamp": times, **{name: day[name].to_numpy() for name in day}}
    table["close"] = ["eleven"] * len(day)  # no second error on the way to the first
    parquet.write_table(pyarrow.table(table), tmp_path / "A.parquet")
    refused(tmp_path / "A.parquet", "unknown time zone 'Foo/Bar'", "write it in UTC")


# What is refused: gaps, and what is none


def minutes_without(*absent, days=("2024-01-02", "2024-01-03")):
    """Return the minutes of two sessions of 100 bars, without those at the given positions."""
    times = [time for day in days for time in pandas.date_range(f"{day} 14:30", periods=100, freq="min")]
    return [str(time) for position, time in enumerate(times) if position not in absent]


def test_the_night_between_two_sessions_is_no_gap(write):
    assert len(read_bars(write(minutes_without()), max_missing=0).table) == 200


def test_each_day_has_a_grid_of_its_own(write):
    days = [pandas.date_range(f"2024-01-0{day} 14:3{day}", periods=9, freq="7min") for day in (2, 3, 4)]
    assert read_bars(write([str(time) for day in days for time in day])).interval == pandas.Timedelta("7min")


def test_missing_bars_up_to_the_limit(write):
    path = write(minutes_without(10, 150))
    assert len(read_bars(path).table) == 198  # 2 of 200 are missing: 1 %
    refused(path, "line 12 (2024-01-02 14:41:00)", "2 minutes after", "2 bars", "1.00%", max_missing=0.0099)


def test_more_missing_bars_name_the_first_gap_and_the_flag(write):
    days = ("2024-01-02", "2024-01-03", "2024-01-04")
    path = write(minutes_without(10, 11, 12, 150, days=days))
    text = refused(
        path, "line 12 (2024-01-02 14:43:00)", "4 minutes after", "4 bars", "1.33%", "--max-missing"
    )
    read_bars(path, max_missing=float(text.rpartition(" --max-missing ")[2]))


def test_a_bar_off_the_grid(write):
    refused(write([*MINUTES, "2024-01-02 14:35:30"]), "line 8", "30 seconds after", "1 minute apart")


@pytest.mark.parametrize("freq", ["D", "B", "W", "MS", "QS"])
def test_calendar_intervals_have_no_gaps(write, freq):
    bars = read_bars(write([str(time) for time in pandas.date_range("2020-01-06", periods=30, freq=freq)]))
    assert len(bars.table) == 30


def daily(*pairs):
    return [str(time) for pair in pairs for time in pandas.bdate_range(*pair)]


def test_the_longest_holidays_are_no_gap_but_more_is(write):
    holidays = write(daily(("2024-01-02", "2024-02-08"), ("2024-02-19", "2024-03-01")))
    assert read_bars(holidays, max_missing=0).interval == pandas.Timedelta(days=1)
    longer = write(daily(("2024-01-02", "2024-02-08"), ("2024-02-20", "2024-03-01")))
    refused(longer, "(2024-02-20 00:00:00)", "12 days after", "11 bars are missing")


def test_long_gap_between_sessions_of_minutes(write):
    path = write(minutes_without(days=("2024-01-02", "2024-02-02")))
    refused(path, "line 102 (2024-02-02 14:30:00)", "missing")


def test_two_daily_bars_on_one_day(write):
    times = [*daily(("2024-01-02", "2024-01-09")), "2024-01-09 06:30:00"]
    refused(write(times), "line 8", "390 minutes after", "1 day apart")


# What is refused: files


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", ["is empty"]),
        (HEADER, ["cannot read", "Empty CSV file"]),
        (HEADER + "\n", ["has too few bars: 0"]),
        (HEADER + "\n" + ROW.format("2024-01-02"), ["has too few bars: 1"]),
        (
            "timestamp,open,high,low\n1,2,3,4",
            ["no column close, volume", "it has timestamp, open, high, low"],
        ),
        ("1704205800000,10,12,9,11,100\n", ["first line must name the columns", f"add {HEADER}"]),
        (HEADER.replace(",", ";") + "\n", ["separate the columns with commas"]),
        ("\n" + HEADER, ["it has none"]),
        (HEADER + ",Close\n1,2,3,4,5,6,7", ["two columns for close: 'close' and 'Close'; keep one"]),
        (HEADER + ",close\n1,2,3,4,5,6,7", ["two columns for close: 'close' and 'close'"]),
        (
            "Date,Time,Open,High,Low,Close,Volume\n",
            ["'Date' and 'Time'; join date and time into one, or keep one"],
        ),
        (with_row("2024-01-02 14:33,10,12,9,11"), ["Row #5", "Expected 6 columns, got 5"]),
        (with_row("2024-01-02 14:33,10,12,9,11,1,200"), ["Row #5", "Expected 6 columns, got 7"]),
        (HEADER.encode() + b"\n\xff\xfe,1,2,3,4,5", ["is not CSV in UTF-8"]),
        ((HEADER + ("\n" + ROW) * 500).encode() + b"\n\xff,1,2,3,4,5", ["cannot read", "UTF8"]),
        (HEADER.encode("utf-16"), ["is not CSV in UTF-8"]),
        (numpy.random.default_rng(0).bytes(1000), ["is not CSV in UTF-8"]),
        (gzip.compress(HEADER.encode(), mtime=0), ["is compressed; unpack it"]),
        (b"PK\x03\x04" + bytes(50), ["is compressed; unpack it"]),
    ],
)
def test_csv_files_that_cannot_be_read(write, text, parts):
    refused(write(text), *parts)


def test_parquet_under_the_name_of_csv_and_the_reverse(write, tmp_path, day):
    day.to_parquet(tmp_path / "A.parquet")
    shutil.copy(tmp_path / "A.parquet", tmp_path / "A.csv")
    refused(tmp_path / "A.csv", "is a Parquet file", "rename it to A.parquet")
    refused(write(MINUTES, "B.parquet"), "is not a Parquet file")


@pytest.mark.parametrize("keep", [0.01, 0.5, 0.99])
def test_parquet_that_was_cut_off(tmp_path, day, keep):
    path = tmp_path / "A.parquet"
    day.to_parquet(path)
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * keep)])
    refused(path, "cannot read")


def test_parquet_with_damaged_pages(tmp_path, day):
    path = tmp_path / "A.parquet"
    day.to_parquet(path)
    content = bytearray(path.read_bytes())
    content[4:2000] = bytes(1996)
    path.write_bytes(content)
    refused(path)


def test_parquet_without_a_named_index(tmp_path, day):
    day.rename_axis(None).to_parquet(tmp_path / "A.parquet")
    refused(tmp_path / "A.parquet", "no column timestamp", "__index_level_0__")


def test_files_that_are_not_there_or_of_another_kind(write, tmp_path):
    refused(tmp_path / "absent.csv", "No such file")
    refused(write(MINUTES, "A.txt"), "neither .csv nor .parquet")
    refused(write(MINUTES, "A.csv.gz"), "neither .csv nor .parquet")
    (tmp_path / "folder.csv").mkdir()
    refused(tmp_path / "folder.csv", "Is a directory")


# Folders


def test_a_folder_gives_its_symbols_in_order(write, tmp_path, day):
    for name in ("MSFT.csv", "aapl.CSV", "._MSFT.csv", ".hidden.csv", "notes.txt"):
        write(MINUTES if not name.startswith(".") else "\0", f"folder/{name}")
    day.to_parquet(tmp_path / "folder" / "GOOG.parquet")
    assert [bars.symbol for bars in read_folder(tmp_path / "folder")] == ["aapl", "GOOG", "MSFT"]


@pytest.mark.parametrize(
    ("files", "parts"),
    [
        ({}, ["has no file SYMBOL.csv or SYMBOL.parquet"]),
        ({"A.txt": MINUTES}, ["has no file SYMBOL.csv"]),
        ({"A.csv": MINUTES, "a.parquet": "PAR1"}, ["twice: A.csv and a.parquet", "remove one"]),
        ({"A.csv": MINUTES, "B.csv": MINUTES[::2]}, ["A has a bar every 1 minute, B every 2 minutes"]),
        ({"A.csv": MINUTES, "B.csv": ""}, ["B.csv is empty"]),
    ],
)
def test_folders_that_are_refused(write, tmp_path, files, parts):
    (tmp_path / "folder").mkdir()
    for name, content in files.items():
        write(content, f"folder/{name}")
    with pytest.raises(UsageError) as failure:
        read_folder(tmp_path / "folder")
    for part in [str(tmp_path / "folder"), *parts]:
        assert part in str(failure.value)


def test_a_folder_that_is_not_there_or_is_a_file(write, tmp_path):
    with pytest.raises(UsageError, match=r"cannot read the folder .*No such file"):
        read_folder(tmp_path / "absent")
    with pytest.raises(UsageError, match=r"cannot read the folder .*Not a directory"):
        read_folder(write(MINUTES))


def test_the_limit_of_missing_bars_holds_for_a_folder(write, tmp_path):
    write(minutes_without(10, 11, 12, 150), "folder/A.csv")
    with pytest.raises(UsageError, match="4 bars are missing"):
        read_folder(tmp_path / "folder")
    assert len(read_folder(tmp_path / "folder", max_missing=0.02)) == 1


# Sample data and small parts


def test_sample_data_of_matplotlib():
    bars = load_goog()
    assert (bars.symbol, bars.interval) == ("GOOG", pandas.Timedelta(days=1))
    assert check_bars(bars.table, 0.0, str) == bars.interval
    assert [len(bars.table), *bars.table.index[[0, -1]].strftime("%Y-%m-%d")] == [
        1047,
        "2004-08-19",
        "2008-10-14",
    ]
    assert bars.table.iloc[0].tolist() == [100.0, 104.06, 95.96, 100.34, 22351900.0]
    days = numpy.load(cbook.get_sample_data("goog.npz", asfileobj=False), allow_pickle=False)["price_data"]
    assert (days["adj_close"] == days["close"]).all()  # the docstring says so


def test_sample_data_has_the_form_of_a_file(tmp_path):
    bars = load_goog()
    bars.table.to_csv(tmp_path / "GOOG.csv")
    read = read_bars(tmp_path / "GOOG.csv")
    pandas.testing.assert_frame_equal(read.table, bars.table, check_exact=True)
    assert read.interval == bars.interval


def test_matplotlib_without_sample_data(monkeypatch, tmp_path):
    monkeypatch.setattr(cbook, "get_sample_data", lambda name, asfileobj: str(tmp_path / name))
    with pytest.raises(UsageError, match="No such file or directory; install Matplotlib with its sample"):
        load_goog()


def test_enough_bars():
    bars = load_goog()
    check_enough(bars, 1047)
    with pytest.raises(UsageError, match="1048 needed, 1047 in Google, daily"):
        check_enough(bars, 1048)


def test_bars_cannot_be_replaced():
    with pytest.raises(AttributeError):
        load_goog().symbol = "MSFT"
    assert Bars.__dataclass_params__.frozen


@pytest.mark.parametrize(
    ("distance", "words"),
    [
        ("1min", "1 minute"), ("5min", "5 minutes"), ("90min", "90 minutes"), ("4h", "4 hours"),
        ("1D", "1 day"), ("7D", "7 days"), ("30s", "30 seconds"), ("1500ms", "0 days 00:00:01.500000"),
    ],
)  # fmt: skip
def test_intervals_in_words(distance, words):
    assert in_words(pandas.Timedelta(distance)) == words
