"""Read .npy and .npz files of plain numbers, which may be damaged or malicious.

A header of 80 bytes can announce any size, and a small archive can unpack to any size. So sizes are compared
with the file and with the memory of this machine before memory is allocated.
"""

import io
import math
import os
import warnings
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy
from numpy.lib import format as npy_format

from snippets.errors import UsageError
from snippets.foreign_files import check_unpacked, open_regular, size_of

HEAD = 16_384  # bytes; NumPy reads no longer header
PACKINGS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # numpy.savez uses no other


class Head(NamedTuple):
    """The header of a .npy file, and its length in bytes."""

    shape: tuple[int, ...]
    fortran: bool
    dtype: numpy.dtype
    length: int


def read_head(content: bytes) -> Head:
    """Return the header at the beginning of a .npy file. Raises ValueError."""
    file = io.BytesIO(content)
    if content[:2] == b"PK":
        raise ValueError("it is a .npz file, which holds several arrays; unpack it")
    with warnings.catch_warnings(action="ignore"):  # about headers from Python 2
        version = npy_format.read_magic(file)
        if version != (1, 0):  # other versions are for thousands of named columns
            raise ValueError(f"version {version[0]}.{version[1]} of the format, not 1.0")
        shape, fortran, dtype = npy_format.read_array_header_1_0(file)
        return Head(shape, fortran, dtype, file.tell())


def check_numbers(head: Head, size: int) -> None:
    """Raise ValueError unless a file of `size` bytes holds all numbers that its header announces."""
    if head.dtype.hasobject:
        raise ValueError("it is a pickle of Python objects; write it anew as an array of numbers")
    if head.dtype.itemsize == 0 or min(head.shape, default=0) < 0:
        raise ValueError(f"it says that it holds {head.dtype} of shape {head.shape}")
    if head.length + math.prod(head.shape) * head.dtype.itemsize != size:
        raise ValueError(f"{head.dtype} of shape {head.shape} does not take {size:,} bytes")


def check_memory(path: Path, what: str, size: int) -> None:
    """Raise UsageError when `size` bytes are more than this machine has."""
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if size > memory:
        raise UsageError(
            f"{path}: {what} {size / 1e9:,.1f} GB, and this machine has {memory / 1e9:,.1f} GB of memory"
        )


def names_in(path: Path) -> list[str]:
    """Return the names of the arrays in a .npz file. Raises UsageError with the reason."""
    try:
        with open_regular(path) as file, zipfile.ZipFile(file) as archive:
            return [name.removesuffix(".npy") for name in archive.namelist()]
    except Exception as error:
        raise refusal(path, ".npz", error) from None


def read_npz(path: Path, names: Sequence[str]) -> dict[str, numpy.ndarray]:
    """Return the arrays with these names, in this order. Raises UsageError with the reason."""
    try:
        with open_regular(path) as file, zipfile.ZipFile(file) as archive:
            members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
            missing = [name for name in names if name not in members]
            if missing:
                raise UsageError(f"{path} has no array {missing[0]}; it has {', '.join(members) or 'none'}")
            unpacked = sum(members[name].file_size for name in names)
            check_unpacked(path, unpacked, size_of(file))
            check_memory(path, "its arrays take", unpacked)
            return {name: read_member(archive, members[name]) for name in names}
    except Exception as error:  # zipfile, zlib and NumPy raise many errors for damage
        raise refusal(path, ".npz", error) from None


def read_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> numpy.ndarray:
    """Return an array of a .npz file. Raises ValueError and errors of NumPy and zipfile."""
    if member.compress_type not in PACKINGS:
        raise ValueError(f"{member.filename} is packed in a way that NumPy does not use")
    with archive.open(member) as file:
        check_numbers(read_head(file.read(HEAD)), member.file_size)
    with archive.open(member) as file:
        return npy_format.read_array(file, allow_pickle=False)


def read_npy(path: Path, mapped: bool = False) -> numpy.ndarray:
    """Return the array in a file. With `mapped`, it is read on use, and changes stay in memory.

    Raises FileNotFoundError, and UsageError with the reason for other failures.
    """
    try:
        with open_regular(path) as file:
            head = read_head(file.read(HEAD))
            check_numbers(head, size_of(file))
            if mapped and 0 not in head.shape:
                order = "F" if head.fortran else "C"
                return numpy.memmap(file, head.dtype, "c", head.length, head.shape, order)
            check_memory(path, "its array takes", size_of(file))
            file.seek(0)
            return npy_format.read_array(file, allow_pickle=False)
    except FileNotFoundError:
        raise
    except Exception as error:
        raise refusal(path, ".npy", error) from None


def refusal(path: Path, kind: str, error: Exception) -> UsageError:
    """Return the error, in one line, for a file that cannot be read."""
    if isinstance(error, UsageError):
        return error
    if isinstance(error, OSError) and error.errno is not None:
        return UsageError(f"cannot read {path}: {error.strerror}")
    if isinstance(error, MemoryError):
        return UsageError(f"cannot read {path}: it takes more memory than is free")
    what = str(error).partition("\n")[0] or type(error).__name__
    return UsageError(f"{path} is no whole {kind} file with plain numbers: {what}")
