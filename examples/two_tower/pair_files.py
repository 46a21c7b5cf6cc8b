"""Pairs in a .npz file, or in a folder with the same arrays as memory-mapped .npy files.

They can come from any sentence encoder: context_sequences (rows, positions, width) and target_vectors (rows,
width), float32; truth_keys (rows, at least 1), whole numbers, whose first column is the article.
"""

from pathlib import Path

import numpy
import torch

from examples.programs.array_files import read_npy, read_npz
from examples.two_tower.nearest import bar
from examples.two_tower.pairs import Pairs
from examples.two_tower.texts import NAME as TEXTS
from examples.two_tower.texts import Texts
from snippets.errors import UsageError, tell

NAMES = ("context_sequences", "target_vectors", "truth_keys")
UNPACK = "python -m zipfile -e"
LONG = 1e9  # bytes of vectors, above which reading them is announced


def read_pairs(path: Path) -> Pairs:
    """Return the pairs in a file or folder. Raises UsageError with the reason."""
    arrays = mapped(path) if path.is_dir() else read_npz(path, NAMES)
    contexts, payloads, keys = (arrays[name] for name in NAMES)
    check_shapes(path, contexts, payloads, keys)
    if (size := contexts.nbytes + payloads.nbytes) > LONG:
        tell(f"reading    {path}: {len(keys):,} pairs, {size / 1e9:.1f} GB; every value is checked")
    for name in NAMES[:2]:
        check_values(path, name, arrays[name])
    how = "mapped from the folder" if path.is_dir() else "read into memory"
    return Pairs(
        path.name,
        f"{path}, {how}",
        torch.from_numpy(contexts),
        torch.from_numpy(payloads),
        torch.from_numpy(keys[:, 0].astype(numpy.int64)),
        texts_of(path, len(keys)),
        mapped=path.is_dir(),
    )


def texts_of(folder: Path, rows: int) -> Texts | None:
    """Return the texts beside the vectors, or None where there are none. Raises UsageError."""
    if not (folder / TEXTS).is_file():
        return None
    texts = Texts(folder / TEXTS)
    if len(texts) != rows:
        raise UsageError(
            f"{folder}: {TEXTS} has {len(texts):,} lines, and there are {rows:,} pairs; encode anew"
        )
    return texts


def mapped(folder: Path) -> dict[str, numpy.ndarray]:
    """Return the memory-mapped arrays of a folder. Raises UsageError."""
    arrays = {}
    for name in NAMES:
        file = folder / f"{name}.npy"
        try:
            arrays[name] = read_npy(file, mapped=True)
        except FileNotFoundError:
            raise UsageError(
                f"{folder} has no {file.name}; unpack a .npz there: {UNPACK} FILE.npz {folder}"
            ) from None
    return arrays


def check_shapes(path: Path, contexts: numpy.ndarray, payloads: numpy.ndarray, keys: numpy.ndarray) -> None:
    """Raise UsageError unless the arrays have the right types and matching shapes."""
    for name, array, axes in zip(NAMES, (contexts, payloads, keys), (3, 2, 2), strict=True):
        wanted = "iu" if name == "truth_keys" else "f"
        if array.dtype.kind not in wanted or (wanted == "f" and array.dtype != numpy.float32):
            kind = "whole numbers" if wanted == "iu" else "float32"
            raise UsageError(f"{path}: {name} is {array.dtype}, not {kind}")
        if array.ndim != axes or 0 in array.shape:
            raise UsageError(f"{path}: {name} has shape {array.shape}, not {axes} axes that hold something")
    if not len(contexts) == len(payloads) == len(keys):
        raise UsageError(
            f"{path}: the arrays have {len(contexts)}, {len(payloads)} and {len(keys)} rows "
            f"({', '.join(NAMES)}); a pair is a row of each"
        )
    if contexts.shape[2] != payloads.shape[1]:
        raise UsageError(
            f"{path}: contexts are {contexts.shape[2]} wide and payloads {payloads.shape[1]}; "
            "both come from one encoder"
        )
    if len(numpy.unique(keys[:, 0])) < 2:
        raise UsageError(f"{path}: all rows are of article {keys[0, 0]}; to hold some out, it takes two")


def check_values(path: Path, name: str, array: numpy.ndarray) -> None:
    """Raise UsageError for the first row with a value that is not finite, or whose last vector is zero."""
    progress = bar(len(array), f"checking {name}", " rows")
    for start in range(0, len(array), 4096):  # in parts, because a mapped file may exceed the memory
        part = array[start : start + 4096]
        progress.update(len(part))
        finite = numpy.isfinite(part).reshape(len(part), -1).all(1)
        empty = ~part.reshape(len(part), -1, part.shape[-1])[:, -1].any(1)
        if not finite.all():
            raise UsageError(f"{path}: {name}, row {start + int((~finite).argmax())}, holds NaN or infinity")
        if empty.any():
            has = "has a last vector of zeros, which" if array.ndim == 3 else "is all zeros and"
            raise UsageError(
                f"{path}: {name}, row {start + int(empty.argmax())}, {has} has no direction; "
                "leave that row out of the file"
            )
    progress.close()
