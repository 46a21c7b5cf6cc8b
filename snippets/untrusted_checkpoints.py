"""Check the content of a checkpoint, which may come from an untrusted source.

`torch.load(weights_only=True)` calls only functions from a fixed list. One of them makes a bytearray of any
size; others make tensors without values or with a layout that no training uses.
"""

import pickle
import pickletools
import re
import zipfile
import zlib
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import Any

import torch

LARGEST_PICKLE = 1 << 24  # bytes of names, settings and sums; ours have some thousands
MOST_PARTS = 1 << 22  # in lists and dictionaries, each counted as often as it is referred to
DEEPEST = 20  # lists in lists; ours are seven deep
MOST = 1 << 63  # larger than any count, seed or checksum
# The globals that torch.save writes for plain tensors.
NAMES = re.compile(
    r"collections OrderedDict|torch\._utils _rebuild_tensor_v2|"
    r"torch (Float|Double|Half|BFloat16|Long|Int|Short|Char|Byte|Bool)Storage"
)


def check_names(path: Path) -> None:
    """Raise UnpicklingError unless the pickle in the archive at `path` makes only plain tensors and types.

    It is scanned, not loaded. Raises other errors for a damaged archive.
    """
    with zipfile.ZipFile(path) as archive:
        (part,) = [part for part in archive.infolist() if part.filename.lower().endswith("data.pkl")]
        if part.file_size > LARGEST_PICKLE:
            raise pickle.UnpicklingError(f"{part.filename} has {part.file_size:,} bytes")
        content = archive.read(part)
    for operation, argument, _ in pickletools.genops(content):
        if operation.name == "GLOBAL" and not NAMES.fullmatch(str(argument)):
            raise pickle.UnpicklingError(f"it names {argument}")
        if isinstance(argument, int) and abs(argument) >= MOST:  # as keys, they can take hours
            raise pickle.UnpicklingError("it holds a whole number of many digits")


def check_plain(content: Any) -> None:
    """Raise UnpicklingError unless `content` is a tree of limited size, of plain tensors and types."""
    level, left = [content], MOST_PARTS
    for _ in range(DEEPEST):
        level = list(islice((inner for part in level for inner in inside(part)), left + 1))
        left -= len(level)
        if left < 0 or not level:
            break
    if level:
        raise pickle.UnpicklingError("it is too large or too deep")


def inside(part: Any) -> list[Any]:
    """Return the items of a list or dictionary. Raises UnpicklingError for any other type."""
    if isinstance(part, dict):
        if all(isinstance(key, str | int) for key in part):
            return list(part.values())
    elif isinstance(part, list | tuple):
        return list(part)
    elif part is None or isinstance(part, str | int | float) or (torch.is_tensor(part) and is_dense(part)):
        return []
    raise pickle.UnpicklingError(f"it holds {type(part).__name__}")


def is_dense(tensor: torch.Tensor) -> bool:
    """Return whether no two elements of `tensor` share memory; their order does not matter."""
    by_distance = sorted(range(tensor.ndim), key=tensor.stride, reverse=True)
    return not tensor.requires_grad and tensor.permute(by_distance).is_contiguous()


def tensors_crc32(tensors: Iterable[torch.Tensor], start: int = 0) -> int:
    """Return the CRC-32 of the bytes of all tensors in turn, continuing from the CRC-32 `start`."""
    for tensor in tensors:
        start = zlib.crc32(tensor.cpu().contiguous().numpy(), start)
    return start
