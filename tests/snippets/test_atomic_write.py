"""A replaced file is the old one or the new one."""

import errno
import json
import os

import pytest

from snippets.atomic_write import replace_file, replace_json


def test_content_is_replaced_and_nothing_else_is_left(tmp_path):
    path = tmp_path / "last.pt"
    replace_file(path, lambda file: file.write(b"one"))
    replace_file(path, lambda file: file.write(b"two"))
    assert path.read_bytes() == b"two"
    assert list(tmp_path.iterdir()) == [path]


def test_the_data_are_on_the_disk_before_the_rename(tmp_path, monkeypatch):
    path, seen = tmp_path / "last.pt", []
    path.write_bytes(b"old")
    monkeypatch.setattr(os, "fsync", lambda number: seen.append(path.read_bytes()))
    replace_file(path, lambda file: file.write(b"new"))
    assert seen == [b"old"]
    assert path.read_bytes() == b"new"


def test_failed_writer_leaves_the_previous_file(tmp_path):
    path = tmp_path / "last.pt"
    path.write_bytes(b"old")

    def write(file):
        file.write(b"half of the new")
        raise ValueError("lost")

    with pytest.raises(ValueError, match="lost"):
        replace_file(path, write)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_the_previous_file_survives_a_full_disk(tmp_path, monkeypatch):
    path = tmp_path / "last.pt"
    path.write_bytes(b"old")

    def full(number):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        replace_file(path, lambda file: file.write(b"new"))
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_json_is_standard_json(tmp_path):
    path = tmp_path / "heartbeat.json"
    replace_json(path, {"status": "running", "loss": None})
    assert json.loads(path.read_text()) == {"status": "running", "loss": None}
    with pytest.raises(ValueError, match="not JSON compliant"):
        replace_json(path, {"loss": float("nan")})
    assert json.loads(path.read_text())["status"] == "running"


def test_json_keeps_names_that_are_not_utf8(tmp_path):
    name = os.fsdecode(b"run-\xff-\xe4\xb8\xad")
    replace_json(tmp_path / "config.json", {"out": name})
    text = (tmp_path / "config.json").read_bytes().decode("utf-8")
    assert "\\udcff" in text and "中" in text
    assert json.loads(text) == {"out": name}
