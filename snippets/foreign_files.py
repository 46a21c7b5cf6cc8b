"""Read files from untrusted sources: only regular files, and only up to a size limit.

A named pipe makes `open` wait for ever, a device never ends, and a small archive can unpack to any size. A
refused file raises OSError, like an unreadable one, with the reason in `strerror`.
"""

import errno
import gzip
import os
import stat
import zlib
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO

SETTINGS = 1 << 20  # bytes of a settings file
RUN_FILE = 1 << 25  # bytes of a config.json: usually some thousands, but it may list every held-out article
LONGEST_LINE = 1 << 20  # bytes of a line, of a table or of JSON
UNPACKED = 1 << 30  # bytes that any file may unpack to; larger ones at most PACKED times their own size
SHORTEST = 128  # least bytes that a line counts as, since short lines take as long
PACKED = 100  # deflate reaches 1,000 for zeros alone; texts and measurements stay below 20

KINDS = {  # what a path may be instead of a regular file
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def refused(path: Path, reason: str) -> OSError:
    """Return the error for a file that is not read because of `reason`."""
    return OSError(errno.EINVAL, reason, str(path))


def open_regular(path: Path) -> BufferedReader:
    """Open a regular file, or a link to one, for reading bytes. Raises OSError; does not wait for a pipe."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)  # do not wait for a pipe
    kind = stat.S_IFMT(os.fstat(descriptor).st_mode)
    if kind != stat.S_IFREG:
        os.close(descriptor)
        raise refused(path, f"it is {KINDS.get(kind, 'something else')}, not a file")
    return os.fdopen(descriptor, "rb")


def size_of(file: BinaryIO) -> int:
    """Return the size of an open file in bytes."""
    return os.fstat(file.fileno()).st_size


def read_bytes(path: Path, most: int = SETTINGS) -> bytes:
    """Return the content of a file of at most `most` bytes. Raises OSError."""
    with open_regular(path) as file:
        content = file.read(most + 1) if size_of(file) <= most else None  # it may grow meanwhile
    if content is None or len(content) > most:
        raise refused(path, f"it is larger than {most:,} bytes")
    return content


def read_text(path: Path, most: int = SETTINGS) -> str:
    """Return the text of a file of at most `most` bytes. Raises OSError, also when it is not UTF-8."""
    try:
        return read_bytes(path, most).decode()
    except UnicodeDecodeError:
        raise refused(path, "it is not text in UTF-8") from None


def lines_of(path: Path, longest: int = LONGEST_LINE) -> Iterator[bytes]:
    """Yield the lines of a plain or .gz file. Raises OSError, also for a line above `longest` bytes."""
    with open_regular(path) as packed:
        size, unpacked = size_of(packed), 0
        file = gzip.GzipFile(fileobj=packed) if path.suffix == ".gz" else packed
        for number in range(1, 1 << 62):
            try:
                line = file.readline(longest + 1)
            except (OSError, EOFError, zlib.error) as error:  # gzip's own have no errno
                raise refused(
                    path, getattr(error, "strerror", None) or f"it is damaged ({error}); download it again"
                ) from None
            if not line:
                return
            if len(line) > longest:
                raise refused(path, f"line {number} is longer than {longest:,} bytes")
            unpacked += max(len(line), SHORTEST)
            check_unpacked(path, unpacked, size)
            yield line


def check_unpacked(path: Path, unpacked: int, size: int) -> None:
    """Raise OSError when `size` bytes unpack to more bytes (`unpacked`) than real data would."""
    if unpacked > max(UNPACKED, PACKED * size):
        raise refused(path, f"{size:,} bytes unpack to more than {unpacked - 1:,}: no data do")
