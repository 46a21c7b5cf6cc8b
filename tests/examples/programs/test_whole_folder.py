"""A folder appears with all of its files, or nothing of it stays."""

import signal

import pytest

from examples.programs.run_folder import check_empty, write_whole
from snippets.errors import RunError, UsageError


def test_it_appears_at_once(tmp_path):
    folder = tmp_path / "some" / "data"

    def write(new):
        (new / "file").write_text("all")
        assert not folder.exists()

    write_whole(folder, write)
    assert [path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()] == [
        "some/data/file"
    ]


def test_when_writing_fails_nothing_stays(tmp_path):
    def write(new):
        (new / "file").write_text("half")
        raise OSError(28, "No space left on device")

    with pytest.raises(RunError, match=r"data: No space left on device; choose another --out$"):
        write_whole(tmp_path / "data", write)
    assert list(tmp_path.iterdir()) == []


def test_what_is_there_is_not_touched(tmp_path):
    (tmp_path / "empty").mkdir()
    check_empty(tmp_path / "empty")
    check_empty(tmp_path / "new")
    (tmp_path / "thesis.txt").touch()
    for taken in (tmp_path, tmp_path / "thesis.txt"):
        with pytest.raises(UsageError, match=r"is not empty; choose another --out, or remove it first$"):
            write_whole(taken, lambda new: None)


def test_what_a_killed_writer_left_is_removed(tmp_path):
    for name in (".data.999999999.tmp", ".other.999999999.tmp"):
        (tmp_path / name / "train").mkdir(parents=True)
    write_whole(tmp_path / "data", lambda new: None)
    assert sorted(path.name for path in tmp_path.iterdir()) == [".other.999999999.tmp", "data"]


def test_sigterm_leaves_nothing(tmp_path):
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(KeyboardInterrupt):
        write_whole(tmp_path / "data", lambda new: signal.raise_signal(signal.SIGTERM))
    assert list(tmp_path.iterdir()) == []
    assert signal.getsignal(signal.SIGTERM) is before
