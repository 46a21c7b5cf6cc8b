"""Replace a file in one step: whoever opens it finds the old content or the new one, never a half."""

import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO


# --8<-- [start:replace_file]
def replace_file(path: Path, write: Callable[[BinaryIO], Any], keep_as: Path | None = None) -> None:
    """Let `write` fill a temporary file next to `path`, then rename it to `path`.

    The data is on the disk before the rename, and the rename is atomic. When `write` fails or the process
    dies, `path` is as it was. With `keep_as`, the old file takes that name; who dies between the two renames
    leaves the old file there and none at `path`. Raises whatever `write` raises, and OSError (a full disk,
    for example).
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        if keep_as is not None:
            path.replace(keep_as)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)  # there only if something failed


# --8<-- [end:replace_file]


def remove_leftovers(folder: Path, name: str = "*") -> None:
    """Remove what killed processes left in `folder` of files and folders; `name` is a pattern of theirs."""
    for path in folder.glob(f".{name}.*.tmp"):
        if was_left(path):
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)


def was_left(path: Path) -> bool:
    """Return whether `path` has a temporary name that replace_file gives, and its process is not there."""
    number = re.fullmatch(r"\..+\.(\d{1,9})\.tmp", path.name, re.ASCII | re.DOTALL)
    if number is None:
        return False
    if int(number[1]) == os.getpid():  # an earlier process had the number, as each in a container has
        return True
    try:
        os.kill(int(number[1]), 0)
    except ProcessLookupError:
        return True
    except OSError:  # somebody else's
        pass
    return False


def replace_json(path: Path, value: Any) -> None:
    """Replace `path` by `value` as JSON. Raises ValueError for NaN and infinity, which JSON does not have.

    Names of files need not be UTF-8. Python then keeps bytes as lone surrogates, and JSON can spell them.
    """
    text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    replace_file(path, lambda file: file.write(text.encode(errors="backslashreplace")))
