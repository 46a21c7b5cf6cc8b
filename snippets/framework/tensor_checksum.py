"""A checksum of tensors: by it, a resumed run knows its data again, and a file the weights that made it."""

import zlib
from collections.abc import Iterable

import torch


def tensors_crc32(tensors: Iterable[torch.Tensor], start: int = 0) -> int:
    """Return the CRC-32 of the bytes of all values, one tensor after the other, going on from `start`."""
    for tensor in tensors:
        start = zlib.crc32(tensor.cpu().contiguous().numpy(), start)
    return start
