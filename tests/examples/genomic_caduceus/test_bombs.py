"""Small data files that mean gigabytes, or work without end, are refused in one line before they unfold."""

import gzip

import pytest

from examples.genomic_caduceus import class_data, class_files, fasta, genome, intervals
from examples.programs import array_files
from snippets import foreign_files
from snippets.errors import UsageError
from tests.examples.genomic_caduceus.data_files import make_folder
from tests.examples.genomic_caduceus.test_csv_sequences import HEADER, write_table

LONG = b"x" * (foreign_files.LONGEST_LINE + 1)


def test_tables_of_places(tmp_path, monkeypatch):
    """Long lines, many rows, and rows that name a whole chromosome again and again."""
    table = tmp_path / "data/train/a.csv.gz"
    for name in ("train/a", "train/b", "test/a", "test/b"):
        write_table(tmp_path / f"data/{name}.csv.gz", ["0,chr1,0,400,+"] * 10)
    (tmp_path / "genome.fa").write_text(">chr1\n" + "ACGT" * 100)
    monkeypatch.setattr(intervals, "UNPACKED", 10_000)

    def read():
        return class_files.read_parts(tmp_path / "data", str(tmp_path / "genome.fa"))

    with pytest.raises(UsageError, match=r"its sequences have 16,000 letters, more than .*genome\.fa$"):
        read()
    monkeypatch.setattr(intervals, "MOST_ROWS", 5)
    with pytest.raises(UsageError, match="more than 5 rows are not read"):
        read()
    table.write_bytes(gzip.compress(HEADER.encode() + b"\n" + LONG))
    with pytest.raises(UsageError, match="line 2 is longer than"):
        read()
    table.write_bytes(gzip.compress(HEADER.encode() + b'\n"' + b"x\n" * 200_000))
    with pytest.raises(UsageError, match="field larger than field limit"):
        read()


def test_genomes(tmp_path, monkeypatch):
    monkeypatch.setattr(fasta, "LONGEST", 1000)
    monkeypatch.setattr(genome, "MOST", 5)
    path = tmp_path / "genome.fa.gz"
    for content, message in (
        (b">a\n" + b"A" * 1001, "line 2 is longer than 1,000 bytes"),
        (b">" + b"a" * 1001, "line 1 is longer than 1,000 bytes"),
        (b"".join(b">%d\nA\n" % number for number in range(6)), "more than 5 sequences are not read"),
    ):
        path.write_bytes(gzip.compress(content))
        with pytest.raises(UsageError, match=message):
            genome.read_genome(path)


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


def test_overlong_sequences_are_refused_or_cut(tmp_path, monkeypatch):
    monkeypatch.setattr(class_data, "UNPACKED", 10_000)
    monkeypatch.setattr(class_data, "PACKED", 2)
    folder = make_folder(tmp_path / "data")
    (folder / "train/one/3.txt").write_text("A" * 5000)
    with pytest.raises(UsageError, match=r"of its 48 sequences has 5,000 letters.*dataset\.max_length=1024"):
        class_data.file_data(folder, None, 0)
    assert class_data.file_data(folder, 11, 0).length == 11
    (folder / "train/one/3.txt").write_text("A" * ((1 << 24) + 1))
    with pytest.raises(UsageError, match=r"cannot read .*3\.txt: it is larger than"):
        class_data.file_data(folder, 11, 0)
