"""The loader moves batches, and changes nothing else."""

import pytest
import torch
from torch.utils.data import DataLoader, SequentialSampler, TensorDataset

from snippets.loader_that_moves import MPSOptimizedDataLoader

META = torch.device("meta")  # every machine has it, and it is not the CPU
TEN = TensorDataset(torch.arange(10), torch.arange(10) * 2.0)


class Backwards(SequentialSampler):
    """An order that no default has."""

    def __iter__(self):
        return reversed(range(len(self.data_source)))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"batch_size": 4},
        {"batch_size": 4, "drop_last": True},
        {"batch_size": 3, "sampler": Backwards(TEN)},
        {"batch_sampler": [[1, 2], [7], [3, 4, 5]]},
        {"batch_size": None},
        {"batch_size": 5, "shuffle": True},
    ],
)
def test_the_batches_are_those_of_a_plain_loader(options):
    def batches(kind, **where):
        chosen = {"generator": torch.Generator().manual_seed(1)} | options
        return [[part.tolist() for part in batch] for batch in kind(TEN, **chosen, **where)]

    found = batches(MPSOptimizedDataLoader, device="cpu")
    assert found == batches(DataLoader)
    assert len(found) == len(MPSOptimizedDataLoader(TEN, **options, device="cpu")) > 0


def test_every_tensor_moves_and_nothing_else():
    samples = [{"tokens": torch.ones(3), "more": [torch.ones(2)], "name": "a"} for _ in range(2)]
    (batch,) = MPSOptimizedDataLoader(samples, 2, device="meta")
    assert (batch["tokens"].device, batch["more"][0].device, batch["name"]) == (META, META, ["a", "a"])


def test_what_the_caller_chose_stays(recwarn):
    loader = MPSOptimizedDataLoader(
        TEN, batch_size=4, num_workers=2, pin_memory=True, drop_last=True, prefetch_factor=3, device="cpu"
    )
    assert (loader.batch_size, loader.num_workers, loader.pin_memory) == (4, 2, True)
    assert (loader.drop_last, loader.prefetch_factor) == (True, 3)
    assert not recwarn.list
    assert MPSOptimizedDataLoader(TEN).device == torch.device("mps")


@pytest.mark.parametrize(
    ("device", "pinned", "expected"),
    [("mps", False, False), ("mps", True, False), ("cuda", False, False), ("cuda", True, True)],
)
def test_the_cpu_waits_for_copies_from_pageable_memory(monkeypatch, device, pinned, expected):
    asked = []
    monkeypatch.setattr(torch.Tensor, "is_pinned", lambda tensor: pinned)
    monkeypatch.setattr(
        torch.Tensor, "to", lambda tensor, *where, **how: asked.append((*where, how)) or tensor
    )
    assert len(list(MPSOptimizedDataLoader(TEN, 5, device=device))) == 2
    assert asked == [(torch.device(device), {"non_blocking": expected})] * 4
