"""Small data files that mean gigabytes, or work without end, are refused in one line before they unfold."""

import numpy
import pyarrow
import pytest
from pyarrow import parquet

from examples.indicator_transformer.bars import read_bars
from snippets import foreign_files
from snippets.errors import UsageError

ROWS = 200_000


LONG = b"x" * (foreign_files.LONGEST_LINE + 1)


def bars(**columns):
    """Return a table of bars, some of its columns replaced."""
    rows = len(next(iter(columns.values()), [1]))
    one = pyarrow.array(numpy.ones(rows))
    times = pyarrow.array(numpy.zeros(rows, "<i8")).cast(pyarrow.timestamp("us"))
    plain = {"timestamp": times, **dict.fromkeys(("open", "high", "low", "close", "volume"), one)}
    return pyarrow.table(plain | columns)


def same_text(length):
    """Return one text, a hundred times."""
    places = pyarrow.array(numpy.zeros(100, "<i4"))
    return pyarrow.DictionaryArray.from_arrays(places, pyarrow.array(["2024-01-01" + " " * length]))


TABLES = {
    "equal rows": (lambda: bars(open=pyarrow.array(numpy.ones(ROWS))), "unpack to more than"),
    "one long text": (lambda: bars(timestamp=same_text(50_000)), "unpack to more than"),
    "one long text as a price": (lambda: bars(close=same_text(50_000)), "unpack to more than"),
    "a list in a cell": (
        lambda: bars(open=pyarrow.array([[1.0] * ROWS], pyarrow.list_(pyarrow.float64()))),
        "the column open holds list<.*>, neither numbers nor texts",
    ),
    "wide cells": (
        lambda: bars(low=pyarrow.array([b"x" * ROWS], pyarrow.binary(ROWS))),
        "the column low holds fixed_size_binary",
    ),
    "more in a cell": (
        lambda: bars(high=pyarrow.array([{"a": 1.0}])),
        "the column high holds struct<.*>, neither numbers nor texts",
    ),
}


@pytest.mark.parametrize(("make", "message"), TABLES.values(), ids=TABLES.keys())
def test_parquet(tmp_path, monkeypatch, make, message):
    monkeypatch.setattr(foreign_files, "UNPACKED", 1_000_000)
    path = tmp_path / "ACME.parquet"
    parquet.write_table(make(), path, compression="zstd")
    with pytest.raises(UsageError, match=message):
        read_bars(path)


def test_other_columns_of_parquet_are_not_read(tmp_path):
    """A column that nobody asks for may be anything."""
    table = bars(open=pyarrow.array([1.0, 1.0])).set_column(
        0, "timestamp", pyarrow.array(["2024-01-01", "2024-01-02"])
    )
    nested = pyarrow.array([[1.0], []], pyarrow.list_(pyarrow.float64()))
    parquet.write_table(table.append_column("notes", nested), tmp_path / "ACME.parquet")
    assert len(read_bars(tmp_path / "ACME.parquet").table) == 2


@pytest.mark.parametrize(
    "content", [LONG, b'timestamp,open,high,low,close,volume\n"' + LONG, b"\0" * len(LONG)]
)
def test_long_lines_of_csv(tmp_path, content):
    (tmp_path / "ACME.csv").write_bytes(content)
    with pytest.raises(UsageError, match=r"cannot read|too few bars: 0"):
        read_bars(tmp_path / "ACME.csv")


@pytest.mark.parametrize("head", [b"a," * 500_000, b"\n" + b'"a,b",' * 1001, b"timestamp" + b",x" * 1000])
def test_many_columns_of_csv(tmp_path, head):
    (tmp_path / "ACME.csv").write_bytes(head + b"\n" + b"1," * 2000)
    with pytest.raises(UsageError, match="its first line has more than 1,000 columns"):
        read_bars(tmp_path / "ACME.csv")


@pytest.mark.parametrize(
    "cells", [pyarrow.array([True]), pyarrow.array([1], pyarrow.duration("s"))], ids=["truth", "duration"]
)
def test_what_is_no_number_is_no_price(tmp_path, cells):
    parquet.write_table(bars(high=cells), tmp_path / "ACME.parquet")
    with pytest.raises(UsageError, match=r"row 1: high is .*, not a finite number"):
        read_bars(tmp_path / "ACME.parquet")
