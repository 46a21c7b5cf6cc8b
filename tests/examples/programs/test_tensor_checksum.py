"""Checksums of tensors are those of their bytes."""

import zlib

import torch

from snippets.untrusted_checkpoints import tensors_crc32


def test_checksum_is_the_crc32_of_all_bytes():
    first, second = torch.arange(6.0).view(2, 3), torch.tensor([True, False])
    content = first.numpy().tobytes() + second.numpy().tobytes()
    assert tensors_crc32([first, second]) == zlib.crc32(content)
    assert tensors_crc32([second], tensors_crc32([first])) == zlib.crc32(content)
    assert tensors_crc32([]) == 0


def test_checksum_ignores_memory_layout_not_value_order():
    values = torch.arange(6).view(2, 3)
    turned = values.T.contiguous().T  # equal values, laid out in another way
    assert not turned.is_contiguous()
    assert tensors_crc32([turned]) == tensors_crc32([values])
    assert tensors_crc32([values.T]) != tensors_crc32([values])
