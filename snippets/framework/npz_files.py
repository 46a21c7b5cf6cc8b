"""Read .npz files of plain numbers, which strangers may have written or damaged."""

from collections.abc import Sequence
from pathlib import Path

import numpy

from snippets.framework.errors import UsageError


def read_npz(path: Path, names: Sequence[str]) -> dict[str, numpy.ndarray]:
    """Return the arrays with these names, in this order. Raises UsageError that says what is wrong."""
    try:
        with numpy.load(path, allow_pickle=False) as file:
            missing = [name for name in names if name not in file]
            if missing:
                raise UsageError(f"{path} has no array {missing[0]}; it has {', '.join(file) or 'none'}")
            return {name: file[name] for name in names}
    except UsageError:
        raise
    except Exception as error:  # zipfile, zlib and NumPy meet damage in many ways
        if isinstance(error, OSError) and error.errno is not None:
            raise UsageError(f"cannot read {path}: {error.strerror}") from None
        what = str(error).partition("\n")[0] or type(error).__name__
        raise UsageError(f"{path} is no whole .npz file with plain numbers: {what}") from None
