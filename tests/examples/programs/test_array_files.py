"""Arrays come from .npz files in the order asked for; what cannot be read is said in one line."""

import io
import os
import zipfile

import numpy
import pytest

from examples.programs.array_files import read_npy, read_npz
from snippets import foreign_files
from snippets.errors import UsageError


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


def test_folder_and_missing_file_are_not_called_damaged(tmp_path):
    for path, reason in (
        (tmp_path, "it is a folder, not a file"),
        (tmp_path / "no.npz", "No such file or directory"),
    ):
        with pytest.raises(UsageError, match=f"^cannot read {path}: {reason}$"):
            read_npz(path, ("first",))


def head_of(shape, dtype="<f4"):
    """Return the head of a .npy file that promises an array."""
    file, text = io.BytesIO(), {"descr": dtype, "fortran_order": False, "shape": shape}
    numpy.lib.format.write_array_header_1_0(file, text)
    return file.getvalue()


def zipped(content, packing=zipfile.ZIP_DEFLATED):
    """Return an archive with one array."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", packing) as archive:
        archive.writestr("first.npy", content)
    return file.getvalue()


NUMBERS = head_of((4,)) + bytes(16)
WRONG = {
    "a pickle": (b"\x80\x04N.", "magic string|not a zip file"),
    "objects": (head_of((), "|O") + b"\x80\x04N.", "it is a pickle of Python objects; write it anew"),
    "more than there is": (
        head_of((10**12,)) + bytes(16),
        r"shape \(1000000000000,\) does not take",
    ),
    "less than there is": (NUMBERS + b"\0", "does not take 145 bytes"),
    "no bytes for each": (head_of((2**60,), "|V0"), r"holds \|V0 of shape"),
    "a negative size": (head_of((-4,)) + bytes(16), "shape"),
    "a size of 9,000 digits": (head_of((10**4000, 10**4000)), "does not take"),
    "4 GB of head": (b"\x93NUMPY\2\0\xff\xff\xff\xff", "version 2.0 of the format, not 1.0"),
    "nothing": (b"", "magic string|EOF|not a zip file|reading"),
}


@pytest.mark.parametrize(("content", "message"), WRONG.values(), ids=WRONG.keys())
@pytest.mark.parametrize("how", ["whole", "mapped", "packed"])
def test_false_sizes_and_pickles_are_refused(tmp_path, content, message, how):
    """And none passes on NumPy's advice to load it unsafely."""
    file = tmp_path / "file"
    file.write_bytes(zipped(content) if how == "packed" else content)
    with pytest.raises(UsageError, match=message) as refused:
        read_npz(file, ["first"]) if how == "packed" else read_npy(file, mapped=how == "mapped")
    assert "allow_pickle" not in str(refused.value) and "\n" not in str(refused.value)


def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path, monkeypatch):
    monkeypatch.setattr(foreign_files, "UNPACKED", 100_000)
    file = tmp_path / "bomb.npz"
    file.write_bytes(zipped(head_of((100_000,)) + bytes(400_000)))
    with pytest.raises(UsageError, match="unpack to more than"):
        read_npz(file, ["first"])
    file.write_bytes(zipped(NUMBERS, zipfile.ZIP_BZIP2))
    with pytest.raises(UsageError, match="packed in a way that NumPy does not use"):
        read_npz(file, ["first"])


def test_arrays_larger_than_memory_are_refused(tmp_path, monkeypatch):
    file = tmp_path / "file.npy"
    file.write_bytes(head_of((1 << 40,), "|u1"))
    os.truncate(file, len(head_of((1 << 40,), "|u1")) + (1 << 40))  # 1 TB of holes
    with pytest.raises(
        UsageError, match=r"its array takes 1,099\.5 GB, and this machine has .* GB of memory"
    ):
        read_npy(file)

    def full(*_, **__):
        raise MemoryError

    file.write_bytes(NUMBERS)
    monkeypatch.setattr(numpy.lib.format, "read_array", full)
    with pytest.raises(UsageError, match=r"cannot read .*file\.npy: it takes more memory than is free$"):
        read_npy(file)
