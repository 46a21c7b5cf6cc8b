"""Arrays come from .npz files in the order asked for; what cannot be read is said in one line."""

import numpy
import pytest

from snippets.framework.errors import UsageError
from snippets.framework.npz_files import read_npz


@pytest.fixture
def path(tmp_path):
    numpy.savez(tmp_path / "file.npz", first=numpy.arange(3), second=numpy.ones((2, 2)))
    return tmp_path / "file.npz"


def test_arrays_come_in_the_order_asked_for(path):
    arrays = read_npz(path, ("second", "first"))
    assert list(arrays) == ["second", "first"]
    assert arrays["first"].tolist() == [0, 1, 2]


def test_a_missing_array_is_named_with_what_there_is(path):
    with pytest.raises(UsageError, match=r"file\.npz has no array third; it has first, second$"):
        read_npz(path, ("first", "third"))


def test_no_pickle_is_executed(tmp_path):
    class Harmful:
        def __reduce__(self):
            return (tmp_path / "executed").touch, ()

    numpy.savez(tmp_path / "file.npz", first=numpy.array([Harmful()], dtype=object))
    with pytest.raises(UsageError, match=r"is no whole \.npz file with plain numbers"):
        read_npz(tmp_path / "file.npz", ("first",))
    assert not (tmp_path / "executed").exists()


@pytest.mark.parametrize("damage", [lambda content: content[:-30], lambda content: b"not a zip file"])
def test_damage_is_one_line(path, damage):
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(UsageError, match=r"is no whole \.npz file with plain numbers") as error:
        read_npz(path, ("first",))
    assert "\n" not in str(error.value)


def test_a_folder_and_a_missing_file_are_told_from_damage(tmp_path):
    for path, reason in ((tmp_path, "Is a directory"), (tmp_path / "no.npz", "No such file or directory")):
        with pytest.raises(UsageError, match=f"^cannot read {path}: {reason}$"):
            read_npz(path, ("first",))
