"""An order of the data, and random numbers for each sample, that a resumed run reproduces."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy
import torch
from torch.utils.data import Dataset, Sampler

from snippets.errors import UsageError
from snippets.processes import own_order, own_size

Key = tuple[int, int]  # epoch and index of a sample


# --8<-- [start:epoch_order]
def epoch_order(count: int, seed: int, epoch: int) -> torch.Tensor:
    """Return the indices 0 … count - 1, shape (count,), in an order that depends on seed and epoch alone.

    A resumed run therefore needs only the number of finished steps to continue at the right sample.
    """
    generator = torch.Generator().manual_seed(seed + 1_000_003 * epoch)
    return torch.randperm(count, generator=generator)


# --8<-- [end:epoch_order]
# --8<-- [start:epoch_batches]
class EpochBatches(Sampler[list[Key]]):
    """Batches of (epoch, index) for a DataLoader's `batch_sampler`, from any batch of any epoch on.

    Each key contains the epoch because only keys reach a worker process that persists over several epochs:
    it has a copy of the data set, and does not see changes to the original.
    """

    def __init__(self, count: int, batch_size: int, seed: int, parts: int = 1) -> None:
        """Drop an incomplete last batch. Several processes share each of the `parts` of a batch.

        Raises UsageError when `count` samples fill no batch.
        """
        if not 1 <= batch_size <= count:
            raise UsageError(f"batch size {batch_size}: must be from 1 to the number of samples, {count}")
        self.count, self.batch_size, self.seed, self.parts = count, batch_size, seed, parts
        self.epoch = self.first = 0

    def start_at(self, epoch: int, first: int = 0) -> None:
        """Begin the next iteration at batch number `first` of `epoch`; both count from 0."""
        self.epoch, self.first = epoch, first

    def __len__(self) -> int:
        """Return the number of batches in an epoch."""
        return self.count // self.batch_size

    def __iter__(self) -> Iterator[list[Key]]:
        """Yield the keys of one batch after the other. Samples before batch `first` are never loaded."""
        epoch, size = self.epoch, own_size(self.batch_size)
        order = epoch_order(self.count, self.seed, epoch)
        order = own_order(order, self.batch_size // self.parts).tolist()
        for start in range(self.first * size, len(self) * size, size):
            yield [(epoch, index) for index in order[start : start + size]]


# --8<-- [end:epoch_batches]
# --8<-- [start:seeded_samples]
@contextmanager
def random_numbers_of(*key: int) -> Iterator[None]:
    """Inside the block, PyTorch's random numbers on the CPU depend on `key` alone.

    `torch.manual_seed` would also seed the GPU, whose numbers belong to the training loop. NumPy mixes the
    key, so that neighbouring keys give independent numbers.
    """
    generator = torch.default_generator
    before = generator.get_state()
    generator.manual_seed(int(numpy.random.SeedSequence(key).generate_state(1, numpy.uint64)[0]))
    try:
        yield
    finally:
        generator.set_state(before)


class SeededSamples(Dataset):
    """A map-style data set with keys (epoch, index) whose transforms draw reproducible random numbers.

    The numbers depend on seed, epoch and index, not on the number of workers or on where a run resumed.
    This holds for transforms that draw from PyTorch, as torchvision's do, not from NumPy or `random`.
    """

    def __init__(self, dataset: Dataset, seed: int) -> None:
        """`dataset[index]` returns one sample, augmented."""
        self.dataset, self.seed = dataset, seed

    def __len__(self) -> int:
        """Return the number of samples."""
        return len(self.dataset)

    def __getitem__(self, key: Key) -> Any:
        """Return the sample at `key`, an epoch and an index."""
        with random_numbers_of(self.seed, *key):
            return self.dataset[key[1]]


# --8<-- [end:seeded_samples]
