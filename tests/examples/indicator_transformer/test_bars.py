"""Reading price bars: what is accepted, what is refused and in which words, and the sample data."""

import numpy
import pandas
import pyarrow
import pytest
from matplotlib import cbook
from pyarrow import parquet

from examples.indicator_transformer.bar_checks import check_spacing, check_values, in_words
from examples.indicator_transformer.bars import check_enough, load_goog, read_bars, read_data, sentences
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
        if not isinstance(text, str):
            text = "\n".join([HEADER, *(ROW.format(time) for time in text)]) + "\n"
        path.write_text(text)
        return path

    return call


def with_row(row):
    """Return the text of six minute bars of which the one in line 5 is replaced."""
    rows = [ROW.format(time) for time in MINUTES]
    return "\n".join([HEADER, *rows[:3], row, *rows[4:]])


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


@pytest.fixture
def day():
    """Return a day of minute bars with full-precision numbers."""
    random = numpy.random.default_rng(0)
    close = 100 * numpy.exp(random.normal(0, 1e-3, 1440).cumsum())
    opening = numpy.concatenate([[100.0], close[:-1]])
    columns = {
        "open": opening,
        "high": numpy.maximum(opening, close) * 1.0007,
        "low": numpy.minimum(opening, close) * 0.9993,
        "close": close,
        "volume": random.integers(0, 10_000, 1440).astype(float),
    }
    index = pandas.date_range("2024-01-02", periods=1440, freq="min", name="timestamp")
    return pandas.DataFrame(columns, index=index)


# What is accepted


@pytest.mark.parametrize("name", ["ACME.csv", "ACME.parquet", "column.parquet", "open=7/ACME.parquet"])
def test_what_was_written_is_read_back_exactly(tmp_path, day, name):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)  # a folder that looks like a partition adds no column
    table = day.reset_index() if name == "column.parquet" else day
    table.to_csv(path) if path.suffix == ".csv" else table.to_parquet(path)
    bars = read_bars(path)
    pandas.testing.assert_frame_equal(bars.table, day, check_exact=True, check_freq=False)
    assert (bars.symbol, bars.interval) == (path.stem, pandas.Timedelta(minutes=1))
    assert bars.source == f"{path}, every 1 minute"


def test_columns_in_capitals_in_any_order_among_others(write):
    rows = [f"{100 + i},x,11,9,12,10,2024-01-{i + 2:02},10.5" for i in range(3)]
    header = "\ufeffVolume,name, Close,Low,High,Open,TIMESTAMP,Adj Close"
    table = read_bars(write("\r\n".join([header, *rows]))).table
    assert list(table.columns) == ["open", "high", "low", "close", "volume"]
    assert table.iloc[1].tolist() == [10, 12, 9, 11, 101]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("2024-01-02 14:30", "2024-01-02 14:31"),
        ("2024-01-02T14:30:00", "2024-01-02T14:31:00"),
        ("2024-01-02T14:30:00Z", "2024-01-02T14:31:00Z"),
        ("2024-01-02T09:30-05", "2024-01-02T09:31-05"),
        ("2024-01-02 22:30:00 +08:00", "2024-01-02 22:31:00 +08:00"),
        ("2024-01-02 14:30:00.000", "2024-01-02 14:31:00.000"),
    ],
)
def test_times_become_utc_without_saying_so(write, day, tmp_path, first, second):
    index = read_bars(write([first, second])).table.index
    assert (index.name, index.dtype) == ("timestamp", "datetime64[us]")
    assert list(index.strftime("%Y-%m-%d %H:%M")) == ["2024-01-02 14:30", "2024-01-02 14:31"]
    # Text stays text in Parquet.
    day[:2].reset_index(drop=True).assign(timestamp=[first, second]).to_parquet(tmp_path / "A.parquet")
    pandas.testing.assert_index_equal(read_bars(tmp_path / "A.parquet").table.index, index)


@pytest.mark.parametrize("kind", [pyarrow.date32(), pyarrow.timestamp("ns"), pyarrow.timestamp("s", "UTC")])
def test_dates_and_times_of_parquet(tmp_path, day, kind):
    days = pandas.date_range("2024-01-02", periods=5, unit="us", name="timestamp")
    table = pyarrow.Table.from_pandas(day[:5], preserve_index=False)
    table = table.append_column("timestamp", pyarrow.array(days).cast(kind))
    parquet.write_table(table, tmp_path / "A.parquet")
    pandas.testing.assert_index_equal(read_bars(tmp_path / "A.parquet").table.index, days, check_freq=False)


def test_zero_volume_and_rounded_prices_are_accepted(write):
    table = read_bars(write(with_row('2024-01-02 14:33,"10",11.999999999999998,9,1.2e1,0'))).table
    assert table.iloc[3].tolist() == [10, 11.999999999999998, 9, 12, 0]


# What is refused: rows


@pytest.mark.parametrize(
    ("cells", "parts"),
    [
        (",12,9,11,100", ["16.67% of all (rows dropped, in which prices are missing: 1); fill the gaps"]),
        ("10,12,9,11,1e308", ["volume is 1e+308, not a finite number", "at most 1e+100"]),
        ("10,inf,9,11,100", ["high is inf, not a finite number"]),
        ("10,12,9,eleven,100", ["close is eleven, not a finite number"]),
        ('"1,010",12,9,11,100', ["open is 1,010, not a finite number; write numbers like 1234.5"]),
        ("1.5K,12,9,11,100", ["open is 1.5K, not a finite number"]),
        ("10,12,0,11,100", ["has a price that is not above zero", "low 0"]),
        ("10,12,9,11,-1", ["has a negative volume", "volume -1"]),
        (
            "10,10.5,9,11,100",
            ["has a high below its open or close", "high 10.5", "correct or remove the row"],
        ),
        ("13,12,9,11,100", ["has a high below its open or close", "open 13"]),
        ("10,12,10.5,11,100", ["has a low above its open or close", "low 10.5"]),
        ("10,12,9,8,100", ["has a low above its open or close", "close 8"]),
    ],
)
def test_a_row_that_is_no_bar(write, cells, parts):
    refused(write(with_row(f"2024-01-02 14:33,{cells}")), "ACME.csv, line ", *parts)


def test_rows_of_parquet_are_counted_from_one(tmp_path, day):
    day.iloc[7, 3] = numpy.inf
    day.to_parquet(tmp_path / "A.parquet")
    refused(tmp_path / "A.parquet", "A.parquet, row 8: close is inf")


@pytest.mark.parametrize(
    ("time", "message"),
    [
        ("2024-01-02 14:31", "is earlier than the row before it; sort the rows by time"),
        ("2024-01-02 14:30", "is earlier than the row before it"),
    ],
)
def test_order_of_the_rows(write, time, message):
    refused(write(with_row(ROW.format(time))), f"line 5 {message}")


@pytest.mark.parametrize(
    "time",
    ["", "noon", "today", "2024", "01/02/2024", "2024-13-01", "1604123123", "1699-12-31", "2300-01-02", "7"],
)
def test_a_time_that_cannot_be_read(write, time):
    refused(write(with_row(ROW.format(time))), "line 5 has no time from 1700 to 2200", "2024-01-31T14:30:00Z")


@pytest.mark.parametrize("numbers", [[99999998, 99999999], [-5, -4], [7, 8]])
def test_numbers_that_are_no_times(write, numbers):
    refused(write(numbers), "line 2 has no time from 1700 to 2200")


def test_a_time_beyond_the_years_of_python(tmp_path, day):
    times = pyarrow.array([3 * 10**11, 3 * 10**11 + 60], pyarrow.timestamp("s"))  # milliseconds, as seconds
    table = pyarrow.Table.from_pandas(day[:2], preserve_index=False).append_column("timestamp", times)
    parquet.write_table(table, tmp_path / "A.parquet")
    refused(tmp_path / "A.parquet", "row 1 has no time from 1700 to 2200")


# What is refused: gaps


def sessions(*absent, freq="min"):
    """Return the times of two sessions of 100 bars, without those at the given positions."""
    days = [pandas.date_range(f"2024-01-0{day} 12:0{day}", periods=100, freq=freq) for day in (2, 3)]
    return numpy.delete(numpy.concatenate(days), absent)


def test_nights_and_weekends_are_no_gaps(write):
    for freq in ("1min", "7min"):
        bars = read_bars(write(sessions(freq=freq)), max_missing=0)
        assert (len(bars.table), bars.interval) == (200, pandas.Timedelta(freq))
    for freq in ("D", "B", "W", "MS"):
        times = pandas.date_range("2020-01-06", periods=30, freq=freq)
        assert len(read_bars(write(times), max_missing=0).table) == 30


def test_missing_bars_up_to_the_limit(write):
    path = write(sessions(10, 150))
    bars = read_bars(path)
    assert (len(bars.table), bars.missing) == (198, 2)  # of 200: 1 %
    refused(path, "line 12 comes after", "2 bars are missing, 1.00% of all", max_missing=0.0099)


def test_too_many_missing_bars_name_gap_and_flag(write):
    path = write(sessions(10, 150, 151, 152, 199))  # after the last bar, nobody knows
    text = refused(path, "line 151 comes after the longest gap; 4 bars are missing, 2.01% of all")
    read_bars(path, max_missing=float(text.rpartition(" --max-missing ")[2]))


def test_lunch_break_of_a_single_day_is_a_gap(write):
    """As the page says in its heading about --max-missing; a second day tells that it is a break."""
    days = [
        pandas.date_range(f"2024-01-0{day} {first}", periods=120, freq="min")
        for day in (2, 3)
        for first in ("09:31", "13:01")
    ]
    refused(write(numpy.concatenate(days[:2])), "90 bars are missing", "allow them with --max-missing 0.273")
    assert read_bars(write(numpy.concatenate(days))).missing == 0


@pytest.mark.parametrize(
    ("times", "place", "interval"),
    [
        ([*MINUTES, "2024-01-02 14:35:30"], "line 8", "1 minute"),
        (["2024-01-02", "2024-01-03", "2024-01-04", "2024-01-04 06:30"], "line 5", "1 day"),
    ],
)
def test_bars_of_two_intervals(write, times, place, interval):
    refused(
        write(times), f"{place} is closer to the bar before it than most bars are, {interval}; use bars of"
    )


# What is refused: files


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", ["cannot read", "it is empty"]),
        (HEADER + "\n", ["has too few bars: 0"]),
        (HEADER, ["has too few bars: 0"]),
        (f"{HEADER}\n{ROW.format('2024-01-02')}", ["has too few bars: 1 of ACME; two make an interval"]),
        (
            "timestamp,open,high,low\n1,2,3,4",
            ["has no column for the close, the volume; it has timestamp, open, high, low; name the columns"],
        ),
        (f"{HEADER},Close\n1,2,3,4,5,6,7", ["has 2 columns close; keep one of them"]),
        (HEADER.replace(",", ":") + "\n", ["it has timestamp:open:high", f"name the columns {HEADER}"]),
        (
            with_row("2024-01-02 14:33,10,12,9,11"),
            ["cannot read", "line 5 has 5 values", "the first one has 6"],
        ),
        ("2024-01-02,1,2,3,4,5,6,7\n", ["has no line with the names of its 8 columns; add one"]),
        (with_row("2024-01-02 14:33,10,12,9,11,\0"), ["is NUL, so it is no text"]),
    ],
)
def test_csv_files_that_are_refused(write, text, parts):
    refused(write(text), *parts)


def test_files_of_another_kind_and_damaged_ones(write, tmp_path, day):
    refused(tmp_path / "absent.csv", "cannot read", "No such file")
    refused(write(MINUTES, "A.doc"), ".doc is no table here; it takes .csv")
    refused(write(MINUTES, "B.parquet"), "cannot read")
    day.to_parquet(tmp_path / "C.parquet")
    content = (tmp_path / "C.parquet").read_bytes()
    for damaged in (content[: len(content) // 2], content[:4] + bytes(2000) + content[2004:]):
        (tmp_path / "C.parquet").write_bytes(damaged)
        refused(tmp_path / "C.parquet", "cannot read")


# Folders


def test_a_folder_gives_its_symbols_in_order(write, tmp_path, day):
    for name in ("MSFT.csv", "aapl.CSV", "._MSFT.csv", ".hidden.csv", "README.txt"):
        write(MINUTES if not name.startswith(".") else "\0", f"folder/{name}")
    day.to_parquet(tmp_path / "folder" / "GOOG.parquet")
    assert [bars.symbol for bars in read_data(tmp_path / "folder")] == ["aapl", "GOOG", "MSFT"]


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"A.doc": MINUTES}, "has no file of bars; it needs one like SYMBOL.csv"),
        ({"A.csv": MINUTES, "a.txt": MINUTES}, "has A twice: A.csv and a.txt; remove one"),
        ({"A.csv": MINUTES, "B.csv": MINUTES[::2]}, "A has a bar every 1 minute, B every 2 minutes; use one"),
        ({"A.csv": MINUTES, "B.csv": MINUTES[3:] + MINUTES[:3]}, "B.csv, line 5 is earlier than the row"),
        ({"A.csv": sessions(10, 11, 12, 150)}, "4 bars are missing"),
    ],
)
def test_folders_that_are_refused(write, tmp_path, files, message):
    for name, content in files.items():
        write(content, f"folder/{name}")
    with pytest.raises(UsageError) as failure:
        read_data(tmp_path / "folder")
    assert str(tmp_path / "folder") in str(failure.value)
    assert message in str(failure.value)


def test_folder_accepts_gaps_and_refuses_wrong_paths(write, tmp_path):
    write(sessions(10, 11, 12, 150), "folder/A.csv")
    assert len(read_data(tmp_path / "folder", max_missing=0.02)) == 1
    with pytest.raises(UsageError, match=r"cannot read .*absent: No such file"):
        read_data(tmp_path / "absent")


# What is dropped, and told


def test_repeated_rows_are_dropped_and_contradicting_ones_refused(write):
    bars = read_bars(write([*MINUTES[:4], *MINUTES[3:]]))
    assert len(bars.table) == 6
    assert sentences(bars.notes) == ["rows dropped, which repeat another one: 1"]
    text = with_row("2024-01-02 14:32,10,12,9,11,101")
    refused(
        write(text), "line 4 and ", "line 5 have the same time, 2024-01-02T14:32:00, and different numbers"
    )


def test_a_header_in_the_middle_is_dropped(write):
    rows = [ROW.format(time) for time in MINUTES]
    bars = read_bars(write("\n".join([HEADER, *rows[:3], HEADER, *rows[3:]])))
    assert list(bars.table.index.minute) == [30, 31, 32, 33, 34, 35]
    assert sentences(bars.notes) == ["lines dropped, which repeat the header: 1"]


def test_a_title_and_a_footer_are_left_out(write):
    rows = [ROW.format(time) for time in MINUTES]
    bars = read_bars(write("\n".join(["Prices of ACME", HEADER, *rows, "Source: somebody"])))
    assert len(bars.table) == 6
    assert sentences(bars.notes) == [
        "lines left out, above or below the table: 2",
        "line left out: Prices of ACME",
        "line left out: Source: somebody",
    ]


def test_files_in_one_may_overlap(write):
    rows = [ROW.format(time) for time in MINUTES]
    bars = read_bars(write("\n".join([HEADER, *rows[2:], HEADER, *rows[:4]])))
    assert list(bars.table.index.minute) == [30, 31, 32, 33, 34, 35]
    assert sentences(bars.notes) == [
        "lines dropped, which repeat the header: 1",
        "rows dropped, which repeat another one: 2",
    ]


def test_newest_first_is_turned_round(write):
    bars = read_bars(write(MINUTES[::-1]))
    assert list(bars.table.index.minute) == [30, 31, 32, 33, 34, 35]
    assert sentences(bars.notes) == ["series turned round, which have the newest bar first: 1"]
    refused(write([*MINUTES[::-1], MINUTES[3]]), "line 3 is earlier than the row before it")


def test_rows_without_numbers_are_dropped_and_counted(write):
    bars = read_bars(write(with_row("2024-01-02 14:33,null,null,null,null,null"), "A.csv"), max_missing=1)
    assert (len(bars.table), bars.missing) == (5, 1)
    assert sentences(bars.notes) == ["rows dropped, in which prices are missing: 1"]
    refused(write(HEADER + "\n2024-01-02,,,,,\n"), "too few bars: 0", "prices are missing: 1")


def test_several_symbols_are_split_by_their_column(write, tmp_path):
    rows = [f"{symbol},{ROW.format(time)}" for time in MINUTES for symbol in ("B", "A")]
    path = write("\n".join(["ticker," + HEADER, *rows]))
    assert [(bars.symbol, len(bars.table)) for bars in read_data(path)] == [("B", 6), ("A", 6)]
    assert len(read_bars(path, symbol="A").table) == 6
    with pytest.raises(UsageError, match="has 2 symbols: B, A; name one of them with --symbol"):
        read_bars(path)
    with pytest.raises(UsageError, match="has no symbol C; it has B, A"):
        read_bars(path, symbol="C")


def test_months_of_one_symbol_are_joined(write, tmp_path):
    for name, rows in (("X-1m-2024-02.csv", MINUTES[3:]), ("X-1m-2024-01.csv", MINUTES[:4])):
        write(rows, f"folder/{name}")
    write("", "folder/empty.csv")
    (bars,) = read_data(tmp_path / "folder")
    assert (bars.symbol, len(bars.table), bars.source.split(",")[0]) == ("X", 6, str(tmp_path / "folder"))
    assert sentences(bars.notes) == [
        "files left out, which are empty: 1",
        "rows dropped, which repeat another one: 1",
    ]


def test_too_many_rows_are_refused(write, monkeypatch):
    monkeypatch.setattr("examples.indicator_transformer.price_files.MOST_ROWS", 5)
    refused(write(MINUTES), "ACME.csv has more than 5 bars; use fewer symbols, a shorter time")


# Sample data and small parts


def test_matplotlib_sample_has_the_form_of_a_file(tmp_path):
    bars = load_goog()
    assert (bars.symbol, bars.interval) == ("GOOG", pandas.Timedelta(days=1))
    check_values(bars.table, str)
    assert check_spacing(bars.table.index, bars.table.index, str).missing == 0
    first, last = bars.table.index[[0, -1]].strftime("%Y-%m-%d")
    assert (len(bars.table), first, last) == (1047, "2004-08-19", "2008-10-14")
    assert bars.table.iloc[0].tolist() == [100.0, 104.06, 95.96, 100.34, 22351900.0]
    days = numpy.load(cbook.get_sample_data("goog.npz", asfileobj=False), allow_pickle=False)["price_data"]
    assert (days["adj_close"] == days["close"]).all()  # the docstring says so
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


@pytest.mark.parametrize(
    ("distance", "words"),
    [
        ("1min", "1 minute"), ("5min", "5 minutes"), ("90min", "90 minutes"), ("4h", "4 hours"),
        ("1D", "1 day"), ("7D", "7 days"), ("30s", "30 seconds"), ("1500ms", "0 days 00:00:01.500000"),
    ],
)  # fmt: skip
def test_intervals_in_words(distance, words):
    assert in_words(pandas.Timedelta(distance)) == words
