"""Tables of others: what is read, what is refused, and with which line."""

import gzip
import resource
import zipfile
from functools import partial
from pathlib import Path

import pyarrow
import pytest
from pyarrow import parquet

from examples.programs.tables import is_table, open_table
from snippets.errors import UsageError

ROWS = [{"a": "1", "b": "x y"}, {"a": "2", "b": "z"}]


packed = partial(gzip.compress, mtime=0)  # equal names of tests in every process


def rows(path: Path, *columns: str, **how) -> list[dict]:
    """Return the rows of a table."""
    table = open_table(path, **how)
    return [row for part in table.batches(columns or table.names) for row in part.to_pylist()]


def zipped(*names: str) -> bytes:
    """Return a ZIP archive in which each of these files has the same table."""
    with zipfile.ZipFile("archive.zip", "w") as archive:
        for name in names:
            archive.writestr(name, "a,b\n1,x y\n2,z\n")
    return Path("archive.zip").read_bytes()


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("comma.csv", b"a,b\n1,x y\n2,z\n"),
        ("windows.csv", b"\xef\xbb\xbfa,b\r\n1,x y\r\n\r\n2,z\r\n"),
        ("quoted.csv", b'a,"b"\n1,"x y"\n2,z'),
        ("semicolon.csv", b"a;b\n1;x y\n2;z\n"),
        ("excel.txt", 'a\tb\r\n1\t"x y"\r\n2\tz\r\n'.encode("utf-16")),
        ("big_endian.csv.gz", packed(b"\xfe\xff" + "a,b\n1,x y\n2,z\n".encode("utf-16-be"))),
        ("tabs.txt", b" a \tb\n1\tx y\n2\tz\n"),
        ("bars.txt", b"a|b\n1|x y\n2|z\n"),
        ("objects.jsonl", b'{"a": 1, "b": "x y"}\n\n{"b": "z", "a": "2", "c": [1]}\n'),
        ("two_members.csv.gz", packed(b"a,b\n1,x y\n") + packed(b"2,z\n")),
        ("packed.jsonl.gz", packed(b'{"a": 1, "b": "x y"}\n{"a": 2, "b": "z"}\n')),
    ],
)
def test_forms_of_one_table(name, content):
    Path(name).write_bytes(content)
    assert rows(Path(name)) == ROWS


def test_zip_with_the_files_of_a_mac():
    Path("table.zip").write_bytes(zipped("table.csv", "__MACOSX/._table.csv"))
    assert rows(Path("table.zip")) == ROWS


def test_gb18030_is_read_only_if_its_header_is_known():
    Path("gbk.csv").write_bytes("日期,b\n1,值\n".encode("gb18030"))
    table = open_table(Path("gbk.csv"), known=lambda cells: "日期" in cells)
    assert (table.names, table.encoding) == (["日期", "b"], "gb18030")
    assert [part.to_pylist() for part in table.batches(["b"])] == [[{"b": "值"}]]
    with pytest.raises(UsageError, match="it is no UTF-8 text; if it is GBK, convert it"):
        open_table(Path("gbk.csv"), known=lambda cells: False)


@pytest.mark.parametrize("content", [b"a,b", b"a,b\n", b"a,b\r\n\r\n"])
def test_only_a_header_gives_no_rows(content):
    Path("header.csv").write_bytes(content)
    assert rows(Path("header.csv")) == []


def test_without_a_header_columns_are_numbered():
    Path("bare.csv").write_text("1,x y\n2,z\n", encoding="utf-8")
    table = open_table(Path("bare.csv"), lambda cells: not cells[0].isdigit())
    assert (table.names, table.row(1)) == (["1", "2"], "bare.csv, line 2")
    assert rows(Path("bare.csv"), "2", header=lambda cells: False) == [{"2": "x y"}, {"2": "z"}]


def test_quotation_mark_between_tabs_is_a_letter():
    Path("inch.tsv").write_text('a\tb\n3"\t"x\n', encoding="utf-8")
    assert rows(Path("inch.tsv")) == [{"a": '3"', "b": '"x'}]


def test_titles_and_footers_are_left_out():
    row = "1,2,3,4,5\n"
    Path("vendor.csv").write_text(f"https://vendor.example\n\na,b,c,d,e\n{row * 3}end\n", encoding="utf-8")
    table = open_table(Path("vendor.csv"))
    for _ in range(2):  # reading again counts nothing twice
        assert sum(part.num_rows for part in table.batches(["e"])) == 3
        assert table.left_out == ["https://vendor.example", "", "end"]
    assert table.names == [*"abcde"] and table.row(0) == "vendor.csv, line 4"


@pytest.mark.parametrize("first", ["text", "a,b", "a,b,c,d"])
def test_header_is_no_title(first):
    Path("short.csv").write_text(f"{first}\n1,2,3,4\n1,2,3,4\n1,2,3,4\n", encoding="utf-8")
    assert open_table(Path("short.csv")).names == first.split(",")


def test_lists_of_json_are_numbered():
    Path("pairs.jsonl").write_text('["q", "r"]\n["s", 1.5]\n', encoding="utf-8")
    assert rows(Path("pairs.jsonl")) == [{"1": "q", "2": "r"}, {"1": "s", "2": "1.5"}]


def test_parquet_keeps_its_types():
    parquet.write_table(pyarrow.table({" x": ["p", "q", "p"], "y": [1, 2, 3], "z": [[1]] * 3}), "t.parquet")
    assert rows(Path("t.parquet"), "y", "x")[2] == {"y": 3, "x": "p"}
    with pytest.raises(UsageError, match=r"the column z holds list<element: int64>"):
        rows(Path("t.parquet"), "z")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("short.csv", b"a,b\n1,2\n1\n", "line 3 has 1 values, and the first one has 2; correct or remove it"),
        (
            "bad.csv",
            b"a,b\n1\n1,2\n1\n1,2,3\n",
            "line 2 has 1 values, and the first one has 2; correct or remove it; likewise line 4, 5",
        ),
        ("long.csv", b"a,b\n1,2,3\n", "line 2 has 3 values, and the first one has 2"),
        ("sixteen.csv", "a,b\n".encode("utf-16")[:-1], "it is damaged"),
        (
            "gbk.csv",
            "日,b\n".encode("gbk"),
            "mkdir -p utf8; iconv -f GB18030 -t UTF-8 gbk.csv > utf8/gbk.csv",
        ),
        ("late.csv", b"a,b\n" + b"1,2\n" * 300_000 + b"\xc8\xd5,2\n", "it is no UTF-8 text"),
        ("nul.csv", b"a,b\n1,\0\n", "byte 7 is NUL, so it is no text"),
        ("empty.csv", b"", "it is empty"),
        ("blank.csv", b"\n \n", "it is empty"),
        ("open.csv", b'a,b\n"' + b"x" * 5_000_000 + b'",1\n', "perhaps a quotation mark has no second one"),
        ("wide.csv", b"a," * 1001 + b"\n", "more than 1,000 columns"),
        ("page.csv", b"<!DOCTYPE html>", "the download may have failed"),
        ("book.csv", b"PK\x03\x04", "save it as CSV UTF-8"),
        (
            "book.xlsx",
            b"PK\x03\x04",
            ".xlsx is no table here; save it as CSV UTF-8, with names in its first row",
        ),
        ("broken.zip", b"PK\x03\x04", "it is damaged or encrypted"),
        ("cut.csv.gz", packed(bytes(range(32, 120)) * 9)[:60], "it is damaged"),
        ("text.parquet", b"a,b\n", "Parquet"),
        ("magic.parquet", b"PAR1aaaa", "Parquet magic bytes not found"),
        ("cut.jsonl", b'{"a": 1', "line 1 is no JSON"),
        ("number.jsonl", b"1\n", "line 1 is neither an object {…} nor a list […]"),
        ("deep.jsonl", b"[" * 100_000, "line 1 is no JSON"),
        ("nested.jsonl", b'{"a": [1]}\n', "line 1: 'a' holds a list; it takes a text or a number"),
        ("missing.jsonl", b'{"a": 1}\n{"b": 1}\n', "line 2: 'a' is missing"),
    ],
)
def test_refused_in_one_line(name, content, message):
    Path(name).write_bytes(content)
    with pytest.raises(UsageError) as raised:
        rows(Path(name))
    assert message in str(raised.value) and name in str(raised.value) and "\n" not in str(raised.value)


def test_archives_with_several_files_and_folders():
    Path("two.zip").write_bytes(zipped("a.csv", "b.csv"))
    Path("folder.csv").mkdir()
    for name, message in (
        ("two.zip", "it has 2 files"),
        ("folder.csv", "a folder"),
        ("no.csv", "No such file"),
    ):
        with pytest.raises(UsageError, match=message):
            open_table(Path(name))


def test_archive_that_unpacks_absurdly_large(monkeypatch):
    monkeypatch.setattr("snippets.foreign_files.UNPACKED", 1 << 20)
    Path("bomb.csv.gz").write_bytes(packed(b"1,2\n" * (1 << 20)))
    with pytest.raises(UsageError, match="no data do"):
        rows(Path("bomb.csv.gz"))


def test_memory_is_that_of_a_part():
    with Path("many.csv").open("wb") as file:
        for _ in range(100):
            file.write(b"1.25,2020-01-01T00:00:00,some text\n" * 40_000)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    count = sum(part.num_rows for part in open_table(Path("many.csv"), lambda cells: False).batches(["2"]))
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert count == 4_000_000 and grown < 80_000  # kB; the file has 140 MB


def test_names_of_tables():
    assert [is_table(Path(name)) for name in ("a.csv", "a.csv.gz", "a.ZIP", "a.JSONL", "a.parquet")] == [
        True
    ] * 5
    assert not any(is_table(Path(name)) for name in (".a.csv", "a.gz", "a.fa.gz", "a.xlsx", "README"))
