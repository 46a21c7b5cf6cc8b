"""Replace a file in one step: whoever opens it finds the old content or the new one, never a half."""

import json
import os
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


def replace_json(path: Path, value: Any) -> None:
    """Replace `path` by `value` as JSON. Raises ValueError for NaN and infinity, which JSON does not have.

    Names of files need not be UTF-8. Python then keeps bytes as lone surrogates, and JSON can spell them.
    """
    text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    replace_file(path, lambda file: file.write(text.encode(errors="backslashreplace")))
