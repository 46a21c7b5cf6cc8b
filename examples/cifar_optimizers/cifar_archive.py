"""Read CIFAR's archives as they are downloaded, cifar-10-python.tar.gz and the like, without unpacking them.

Only the files of a set are kept, one at a time. An archive that unpacks to far more than a set is refused.
"""

import contextlib
import gzip
import hashlib
import tarfile
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

from snippets.errors import UsageError
from snippets.foreign_files import open_regular

# foreign_reads: an archive, a regular file whose unpacked size is limited
MOST = 400_000_000  # bytes; both official archives unpack to 186 million
FOLDERS = {"cifar-10-batches-py": "cifar10", "cifar-100-python": "cifar100"}
PYTHON = "download cifar-10-python.tar.gz or cifar-100-python.tar.gz"


class Bounded:
    """A stream that raises UsageError when more than MOST bytes have been read from it."""

    def __init__(self, path: Path, file: gzip.GzipFile) -> None:
        """Take the unpacked stream of the archive at `path`."""
        self.path, self.file, self.left = path, file, MOST

    def read(self, size: int) -> bytes:
        """Return up to `size` bytes."""
        content = self.file.read(size)
        self.left -= len(content)
        if self.left < 0:
            raise UsageError(f"{self.path} unpacks to more than {MOST:,} bytes: no CIFAR set does; {PYTHON}")
        return content


def is_packed(path: Path) -> bool:
    """Return whether a file begins like those of gzip."""
    try:
        with open_regular(path) as file:
            return file.read(2) == b"\x1f\x8b"
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None


@contextlib.contextmanager
def explained_damage(path: Path) -> Iterator[None]:
    """Inside the block, turn what gzip, zlib and tarfile raise for a damaged archive into UsageError."""
    try:
        yield
    except UsageError:
        raise
    except Exception as error:
        reason = getattr(error, "strerror", None) or f"damaged ({error or type(error).__name__})"
        raise UsageError(f"cannot read {path}: {reason}; {PYTHON} again") from None


@contextlib.contextmanager
def opened(path: Path, file: BinaryIO, *, whole: bool) -> Iterator[tarfile.TarFile]:
    """Open an archive as a stream, so that its members are read in their order, none to the disk.

    With `whole`, it is read to its end after the block: there gzip compares its own checksum.
    """
    with gzip.GzipFile(fileobj=file) as unpacked:
        stream: Any = Bounded(path, unpacked)
        with tarfile.open(fileobj=stream, mode="r|") as archive:
            yield archive
        while whole and stream.read(1 << 20):
            pass


def archived_set(path: Path) -> str:
    """Return the name of the set in an archive, "cifar10" or "cifar100". Raises UsageError."""
    tops: set[str] = set()
    with explained_damage(path), open_regular(path) as file, opened(path, file, whole=False) as archive:
        for member in archive:
            parts = PurePosixPath(member.name).parts
            if parts and parts[0] in FOLDERS:
                return FOLDERS[parts[0]]
            tops.update(parts[:1])
    found = f"holds {min(tops)}, " if tops else "is empty, "
    raise UsageError(f"{path} {found}not CIFAR for Python; {PYTHON}")


def archived_files(
    path: Path, folder: str, wanted: Sequence[str], md5: str | None
) -> Iterator[tuple[Path, bytes]]:
    """Yield (path, content) of the wanted files in `folder` of an archive. Raises UsageError.

    `md5` is the checksum of the whole archive; None skips it.
    """
    left = set(wanted)
    with explained_damage(path), open_regular(path) as file:
        if md5 is not None:
            check_md5(path, file, md5)
        with opened(path, file, whole=True) as archive:
            for member in archive:
                parts = PurePosixPath(member.name).parts
                if len(parts) == 2 and parts[0] == folder and parts[1] in left and member.isreg():
                    content = archive.extractfile(member)
                    assert content is not None  # only for what is no regular file
                    left.remove(parts[1])
                    yield path / folder / parts[1], content.read()


def check_md5(path: Path, file: BinaryIO, md5: str) -> None:
    """Raise UsageError when the checksum of a file is another one; the file is then at its beginning."""
    digest = hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False))  # type: ignore[arg-type]
    file.seek(0)
    if (found := digest.hexdigest()) != md5:
        raise UsageError(
            f"{path} is not the official archive (MD5 {found}): damaged or changed; fetch it again, or use "
            "--skip-checksum if it is your own"
        )
