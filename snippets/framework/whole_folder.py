"""A folder that appears at once with all of its files, or not at all."""

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from snippets.framework.errors import RunError, UsageError


def write_whole(folder: Path, write: Callable[[Path], None]) -> None:
    """Let `write` fill a new folder: all of it appears at once. Raises UsageError and RunError."""
    folder = folder.resolve()
    check_empty(folder)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=f".{folder.name}.", dir=folder.parent) as temporary:
            new = Path(temporary, folder.name)
            new.mkdir()
            write(new)
            new.replace(folder)
    except OSError as error:
        raise RunError(f"cannot write {folder}: {error.strerror}; choose another --out") from None


def check_empty(folder: Path) -> None:
    """Raise UsageError unless there is no such folder yet, or nothing in it."""
    if folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
        raise UsageError(f"{folder} is not empty; choose another --out, or remove it first")
