"""A DataLoader that returns batches on the device and is otherwise configured by its caller."""

from collections.abc import Iterator
from typing import Any

import torch
from torch.utils.data import DataLoader, Dataset

from snippets.data_on_device import map_tensors


# --8<-- [start:loader]
class MPSOptimizedDataLoader(DataLoader):
    """A DataLoader that moves every batch to `device`.

    Batch size, order, sampler, `drop_last`, workers and `pin_memory` stay as given: a choice for training,
    such as dropping the last batch, would be wrong for a test.
    """

    def __init__(
        self, dataset: Dataset, *positional: Any, device: torch.device | str = "mps", **options: Any
    ) -> None:
        """Take the arguments of DataLoader, and the `device` for the batches."""
        super().__init__(dataset, *positional, **options)
        self.device = torch.device(device)

    def __iter__(self) -> Iterator[Any]:
        """Yield the batches, with all tensors in dicts, lists and tuples on the device."""
        for batch in super().__iter__():
            yield map_tensors(batch, self.moved)

    def moved(self, tensor: torch.Tensor) -> torch.Tensor:
        """Return a tensor on the device. The CPU waits for it, unless CUDA copies from pinned memory."""
        pinned = self.device.type == "cuda" and tensor.is_pinned()
        return tensor.to(self.device, non_blocking=pinned)


# --8<-- [end:loader]
