"""Replace a file atomically: a reader sees either the old content or the new content, never a part."""

import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO


# --8<-- [start:replace_file]
def replace_file(path: Path, write: Callable[[BinaryIO], Any], keep_as: Path | None = None) -> None:
    """Call `write` with a temporary file next to `path`, then rename that file to `path`.

    The data is on the disk before the rename, and the rename is atomic. If `write` fails or the process
    dies, `path` is unchanged. With `keep_as`, the old file is renamed to it first; if the process dies
    between the two renames, only `keep_as` exists. Raises whatever `write` raises, and OSError (a full disk).
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
    """Remove temporary files that killed processes left in `folder`; `name` is a pattern of final names."""
    for path in folder.glob(f".{name}.*.tmp"):
        if was_left(path):
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)


def was_left(path: Path) -> bool:
    """Return whether `path` is a temporary file of `replace_file` whose process no longer runs."""
    number = re.fullmatch(r"\..+\.(\d{1,9})\.tmp", path.name, re.ASCII | re.DOTALL)
    if number is None:
        return False
    if int(number[1]) == os.getpid():  # an earlier process had this number, which is common in containers
        return True
    try:
        os.kill(int(number[1]), 0)
    except ProcessLookupError:
        return True
    except OSError:  # it runs as another user
        pass
    return False


def replace_json(path: Path, value: Any) -> None:
    """Replace `path` by `value` as JSON. Raises ValueError for NaN and infinity, which JSON does not have.

    File names need not be UTF-8: Python keeps such bytes as lone surrogates, which JSON can escape.
    """
    text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    replace_file(path, lambda file: file.write(text.encode(errors="backslashreplace")))
