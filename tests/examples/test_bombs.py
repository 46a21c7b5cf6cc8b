"""Small data files that mean gigabytes, or work without end, are refused in one line before they unfold."""

import gzip
import json

import numpy
import pyarrow
import pytest
import torch
from pyarrow import parquet

from examples.floorplan_diffusion import plan_files
from examples.genomic_caduceus import class_data, class_files, genome
from examples.indicator_transformer.bars import read_bars
from examples.programs import array_files
from examples.two_tower import near_miss_files
from examples.two_tower.data_sources import generate_pairs
from snippets import foreign_files
from snippets.errors import UsageError
from tests.examples.floorplan_diffusion.data_files import arrays
from tests.examples.genomic_caduceus.data_files import make_folder
from tests.examples.genomic_caduceus.test_csv_sequences import HEADER, write_table

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
    with pytest.raises(UsageError, match="cannot read"):
        read_bars(tmp_path / "ACME.csv")


@pytest.mark.parametrize("head", [b"a," * 500_000, b"\n" + b'"a,b",' * 1001, b"timestamp" + b",x" * 1000])
def test_many_columns_of_csv(tmp_path, head):
    (tmp_path / "ACME.csv").write_bytes(head + b"\n" + b"1," * 2000)
    with pytest.raises(UsageError, match="its first line has more than 1,000 columns"):
        read_bars(tmp_path / "ACME.csv")


def read_misses(path, rows=1000):
    """Read near misses of generated pairs."""
    pairs = generate_pairs(rows, 1.0, 0, 4, 4)
    return near_miss_files.read_near_misses(path, pairs, torch.zeros(rows, dtype=torch.bool))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            json.dumps({"q_index": 0, "near_miss_indices": [5] * 1001}).encode(),
            "line 1: 1,001 near misses; more",
        ),
        (LONG, "line 1 is longer than"),
        (b"[" * 100_000, "line 1: must look like"),
        (b'{"q_index": ' + b"9" * 100_000 + b', "near_miss_indices": []}', "line 1: must look like"),
        (
            json.dumps({"q_index": 0, "near_miss_indices": [5] * 900}).encode(),
            "one row has 900 near misses, and",
        ),
        (b'{"q_index": 3, "near_miss_indices": []}\n' * 2, "line 2: row 3 has a line already"),
    ],
)
def test_near_misses(tmp_path, monkeypatch, content, message):
    monkeypatch.setattr(near_miss_files, "UNPACKED", 1_000_000)
    (tmp_path / "near.jsonl").write_bytes(content)
    with pytest.raises(UsageError, match=message):
        read_misses(tmp_path / "near.jsonl")


def test_tables_of_places(tmp_path, monkeypatch):
    """Long lines, many rows, and rows that name a whole chromosome again and again."""
    table = tmp_path / "data/train/a.csv.gz"
    for name in ("train/a", "train/b", "test/a", "test/b"):
        write_table(tmp_path / f"data/{name}.csv.gz", ["0,chr1,0,400,+"] * 10)
    (tmp_path / "genome.fa").write_text(">chr1\n" + "ACGT" * 100)
    monkeypatch.setattr(class_files, "UNPACKED", 10_000)

    def read():
        return class_files.read_intervals(tmp_path / "data", tmp_path / "genome.fa")

    with pytest.raises(UsageError, match=r"its sequences have 16,000 letters, more than .*genome\.fa$"):
        read()
    monkeypatch.setattr(class_files, "MOST_ROWS", 5)
    with pytest.raises(UsageError, match="more than 5 rows are not read"):
        read()
    table.write_bytes(gzip.compress(HEADER.encode() + b"\n" + LONG))
    with pytest.raises(UsageError, match="line 2 is longer than"):
        read()
    table.write_bytes(gzip.compress(HEADER.encode() + b'\n"' + b"x\n" * 200_000))
    with pytest.raises(UsageError, match="field larger than field limit"):
        read()


def test_genomes(tmp_path, monkeypatch):
    monkeypatch.setattr(genome, "LONGEST", 1000)
    monkeypatch.setattr(genome, "MOST", 5)
    path = tmp_path / "genome.fa.gz"
    for content, message in (
        (b">a\n" + b"A" * 1001, "line 2 is longer than 1,000 bytes"),
        (b">" + b"a" * 1001, "line 1 is longer than 1,000 bytes"),
        (b"".join(b">%d\nA\n" % number for number in range(6)), "more than 5 sequences are not read"),
    ):
        path.write_bytes(gzip.compress(content))
        with pytest.raises(UsageError, match=message):
            genome.read_fasta(path)


def test_intervals(tmp_path, monkeypatch):
    (tmp_path / "genome.fa").write_text(">chr1\n" + "ACGT" * 100)
    bed = tmp_path / "windows.bed"
    bed.write_text("chr1\t0\t400\ttrain\n" * 100)
    monkeypatch.setattr(array_files.os, "sysconf", lambda name: 100)  # a machine of 10 kB
    with pytest.raises(UsageError, match=r"its windows take .* GB, and this machine has"):
        genome.read_windows(tmp_path / "genome.fa", 400, bed)
    monkeypatch.setattr(genome, "MOST", 5)
    with pytest.raises(UsageError, match="more than 5 intervals are not read"):
        genome.read_windows(tmp_path / "genome.fa", 400, bed)


def test_one_long_sequence_of_many_and_one_that_is_too_long(tmp_path, monkeypatch):
    monkeypatch.setattr(class_data, "UNPACKED", 10_000)
    monkeypatch.setattr(class_data, "PACKED", 2)
    folder = make_folder(tmp_path / "data")
    (folder / "train/one/3.txt").write_text("A" * 5000)
    with pytest.raises(UsageError, match=r"of its 48 sequences has 5,000 letters.*dataset\.max_length=1024"):
        class_data.folder_data(folder, None, 0)
    assert class_data.folder_data(folder, 11, 0).length == 11
    (folder / "train/one/3.txt").write_text("A" * ((1 << 24) + 1))
    with pytest.raises(UsageError, match=r"cannot read .*3\.txt: it is larger than"):
        class_data.folder_data(folder, 11, 0)


def test_plans(tmp_path, monkeypatch):
    """Their walls take more memory than the file says."""
    numpy.savez_compressed(tmp_path / "train.npz", **arrays())
    monkeypatch.setattr(plan_files, "MOST_PLANS", 1)
    with pytest.raises(UsageError, match="has 2 plans; more than 1 are not read"):
        plan_files.read_plans(tmp_path / "train.npz")


@pytest.mark.parametrize(
    "cells", [pyarrow.array([True]), pyarrow.array([1], pyarrow.duration("s"))], ids=["truth", "duration"]
)
def test_what_is_no_number_is_no_price(tmp_path, cells):
    parquet.write_table(bars(high=cells), tmp_path / "ACME.parquet")
    with pytest.raises(UsageError, match=r"row 1: high is .*, not a finite number"):
        read_bars(tmp_path / "ACME.parquet")
