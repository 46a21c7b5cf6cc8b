"""Pipes, devices, folders, endless lines and bombs are refused at once."""

import gzip
import os
import socket

import pytest

from snippets import foreign_files
from snippets.foreign_files import lines_of, open_regular, read_bytes, read_text


@pytest.fixture
def odd(tmp_path, monkeypatch):
    """Return paths that are no regular files, by what they are."""
    monkeypatch.chdir(tmp_path)  # the address of a socket is short
    os.mkfifo("pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket")
    return {"a named pipe": tmp_path / "pipe", "a folder": tmp_path, "a device": "/dev/zero"}


@pytest.mark.parametrize("kind", ["a named pipe", "a folder", "a device"])
@pytest.mark.parametrize("read", [open_regular, read_bytes, read_text])
def test_only_files_are_read(odd, read, kind):
    with pytest.raises(OSError) as refused:
        read(odd[kind])
    assert refused.value.strerror == f"it is {kind}, not a file"
    assert refused.value.filename == str(odd[kind])


def test_errors_of_the_system_stay(odd, tmp_path):
    with pytest.raises(FileNotFoundError):
        open_regular(tmp_path / "nothing")
    with pytest.raises(OSError, match="No such device"):
        open_regular(tmp_path / "socket")


def test_a_file_is_read_up_to_its_limit(tmp_path):
    file = tmp_path / "file"
    file.write_text("十" * 3, encoding="utf-8")
    assert read_text(file, most=9) == "十" * 3
    with pytest.raises(OSError, match="larger than 8 bytes"):
        read_text(file, most=8)
    file.write_bytes(b"\xff")
    with pytest.raises(OSError, match="not text in UTF-8"):
        read_text(file)


@pytest.mark.parametrize("packed", [False, True])
def test_lines_have_a_limit(tmp_path, packed):
    file = tmp_path / ("lines.gz" if packed else "lines")
    write = gzip.compress if packed else bytes
    file.write_bytes(write(b"one\n" + b"x" * 9 + b"\nlast"))
    assert list(lines_of(file, longest=10)) == [b"one\n", b"x" * 9 + b"\n", b"last"]
    with pytest.raises(OSError, match="line 2 is longer than 9 bytes"):
        list(lines_of(file, longest=9))


def test_a_bomb_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(foreign_files, "UNPACKED", 100_000)
    file = tmp_path / "bomb.gz"
    file.write_bytes(gzip.compress(b"x\n" * 500_000))
    with pytest.raises(OSError, match="unpack to more than"):
        sum(map(len, lines_of(file)))


def test_a_bomb_of_empty_lines_is_refused(tmp_path, monkeypatch):
    """A thousandth of it in bytes, it would be read for minutes."""
    monkeypatch.setattr(foreign_files, "UNPACKED", 1_000_000)
    file = tmp_path / "bomb.gz"
    file.write_bytes(gzip.compress(b"\n" * 50_000))
    with pytest.raises(OSError, match="unpack to more than"):
        list(lines_of(file))


@pytest.mark.parametrize(
    "content", [b"no gzip", gzip.compress(b"line\n" * 100, mtime=0)[:-9], b"\x1f\x8b\x08"]
)
def test_damaged_archives_are_one_line(tmp_path, content):
    file = tmp_path / "file.gz"
    file.write_bytes(content)
    with pytest.raises(OSError) as refused:
        list(lines_of(file))
    assert refused.value.strerror and "\n" not in refused.value.strerror
