"""Bring batches to the device, or keep the whole data set there.

`python -m snippets.data_on_device [DEVICE]` checks copies for which the CPU does not wait.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch

from snippets.data_order import epoch_order
from snippets.device import typed_device
from snippets.errors import UsageError, exit_with_one_line
from snippets.memory import read_memory
from snippets.processes import own_order, own_size

MPS_NON_BLOCKING_SINCE = (2, 13)  # before, such a copy could read memory that had already been reused


def map_tensors(batch: Any, change: Callable[[torch.Tensor], Any]) -> Any:
    """Return `batch` with `change` applied to every tensor in its dicts, lists and (named) tuples."""
    if isinstance(batch, torch.Tensor):
        return change(batch)
    if isinstance(batch, dict):
        return {name: map_tensors(part, change) for name, part in batch.items()}
    if isinstance(batch, tuple) and hasattr(batch, "_fields"):  # a named tuple takes its fields one by one
        return type(batch)(*(map_tensors(part, change) for part in batch))
    if isinstance(batch, list | tuple):
        return type(batch)(map_tensors(part, change) for part in batch)
    return batch  # texts and numbers


def may_copy_without_waiting(tensor: torch.Tensor, device: torch.device) -> bool:
    """Return whether the CPU may go on while `tensor` is being copied to `device`.

    CUDA copies in the background only from pinned memory. The CPU must wait for copies to itself: reading the
    result before the copy ends returns old values.
    """
    if tensor.device.type != "cpu":
        return False
    if device.type == "cuda":
        return tensor.is_pinned()
    return device.type == "mps" and torch.__version__ >= MPS_NON_BLOCKING_SINCE


def to_device(batch: Any, device: torch.device) -> Any:
    """Return `batch` with every tensor in it on `device`; texts and numbers stay as they are."""
    return map_tensors(
        batch, lambda tensor: tensor.to(device, non_blocking=may_copy_without_waiting(tensor, device))
    )


def tensor_bytes(data: Any) -> int:
    """Return the size in bytes of all tensors in `data`, which may be nested dicts, lists and tuples."""
    sizes: list[int] = []
    map_tensors(data, lambda tensor: sizes.append(tensor.nbytes))
    return sum(sizes)


def fits_on(device: torch.device, size: int, share: float = 0.25) -> bool:
    """Return whether `size` bytes are at most `share` of the memory of `device`.

    On a Mac all programs share that memory, and network, gradients and activations need most of it. Raises
    UsageError for a share outside 0 to 1.
    """
    if not 0 < share <= 1:
        raise UsageError(f"share of memory {share:g}: must be above 0 and at most 1")
    return size <= share * read_memory(device).capacity


# --8<-- [start:resident_batches]
class ResidentBatches:
    """The batches of tensors that are kept on a device, in an order that a resumed run reproduces."""

    def __init__(self, columns: Sequence[torch.Tensor], batch_size: int, seed: int, parts: int = 1) -> None:
        """`columns` are tensors with one entry per sample, such as images and labels.

        Several processes share each of the `parts` of a batch.
        """
        self.columns, self.batch_size, self.seed, self.parts = columns, batch_size, seed, parts

    def batches(self, epoch: int, first: int = 0) -> Iterator[tuple[torch.Tensor, ...]]:
        """Yield the batches of `epoch` from number `first` on, without an incomplete last one."""
        order = epoch_order(len(self.columns[0]), self.seed, epoch).to(self.columns[0].device)
        order, size = own_order(order, self.batch_size // self.parts), own_size(self.batch_size)
        for start in range(first * size, len(order) - size + 1, size):
            indices = order[start : start + size]
            # Much faster on the CPU than `column[indices]`, which copies number by number.
            yield tuple(column.index_select(0, indices) for column in self.columns)


# --8<-- [end:resident_batches]
def count_wrong_copies(device: torch.device, count: int = 1000) -> int:
    """Copy `count` numbers to `device` without waiting, and return how many arrive changed.

    Each is in its own tensor, which is freed at once. A copy is wrong when that memory is reused too early.
    """

    def number(seed: int) -> torch.Tensor:
        return torch.randn(1, generator=torch.Generator().manual_seed(seed))

    copies = [number(seed).to(device, non_blocking=True) for seed in range(count)]
    return sum(copy.cpu() != number(seed) for seed, copy in enumerate(copies)).item()


def main(argv: Sequence[str] | None = None) -> int:
    """Print how many copies to a device went wrong."""
    device, _ = typed_device(argv)
    print(f"{count_wrong_copies(device)} of 1000 copies to {device} went wrong")
    return 0


if __name__ == "__main__":
    sys.exit(exit_with_one_line(main))
