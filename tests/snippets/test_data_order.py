"""The order of the data and the random numbers of a sample depend on seed, epoch and index alone."""

import pytest
import torch
from torch.utils.data import Dataset

from snippets.data_order import EpochBatches, SeededSamples, epoch_order, random_numbers_of
from snippets.errors import UsageError


class RandomSamples(Dataset):
    """Samples that draw from PyTorch's global generator, as torchvision's transforms do."""

    def __len__(self):
        return 5

    def __getitem__(self, index):
        return index + torch.rand(3)


def test_epoch_has_every_sample_once_in_own_order():
    orders = {(seed, epoch): epoch_order(50, seed, epoch) for seed in (0, 1) for epoch in (0, 1)}
    for order in orders.values():
        assert order.sort().values.tolist() == list(range(50))
    assert len({tuple(order.tolist()) for order in orders.values()}) == 4
    assert torch.equal(epoch_order(50, 1, 1), orders[1, 1])


def test_batches_split_the_order_and_drop_the_rest():
    batches = EpochBatches(11, 3, seed=4)
    batches.start_at(2)
    keys = list(batches)
    assert len(keys) == len(batches) == 3
    assert {epoch for batch in keys for epoch, _ in batch} == {2}
    assert [index for batch in keys for _, index in batch] == epoch_order(11, 4, 2).tolist()[:9]


@pytest.mark.parametrize("first", [1, 2, 3])
def test_an_epoch_can_begin_in_the_middle(first):
    batches = EpochBatches(11, 3, seed=4)
    whole = list(batches)
    batches.start_at(0, first)
    assert list(batches) == whole[first:]


@pytest.mark.parametrize("batch_size", [0, -1, 12])
def test_a_batch_size_that_fits_nowhere_is_an_error(batch_size):
    with pytest.raises(UsageError, match=f"batch size {batch_size}: must be from 1 to .* 11"):
        EpochBatches(11, batch_size, seed=0)


def test_random_numbers_depend_on_the_key_alone():
    torch.manual_seed(3)
    before = torch.get_rng_state()
    drawn = {}
    for key in [(0, 0, 0), (0, 0, 1), (0, 1, 0), (1, 0, 0), (0, 0, 0)]:
        with random_numbers_of(*key):
            numbers = torch.rand(4)
        assert key not in drawn or torch.equal(drawn[key], numbers)
        drawn[key] = numbers
    assert len({tuple(numbers.tolist()) for numbers in drawn.values()}) == 4
    assert torch.equal(torch.get_rng_state(), before)


def test_the_generator_comes_back_after_an_error():
    before = torch.get_rng_state()
    with pytest.raises(ZeroDivisionError), random_numbers_of(1):
        torch.rand(1 // 0)
    assert torch.equal(torch.get_rng_state(), before)


def test_augmentation_is_new_each_epoch_and_repeatable():
    samples = SeededSamples(RandomSamples(), seed=7)
    assert len(samples) == 5
    assert torch.equal(samples[0, 2], samples[0, 2])
    assert not torch.equal(samples[0, 2], samples[1, 2])
    assert not torch.equal(samples[0, 2] - 2, samples[0, 3] - 3)
    assert not torch.equal(samples[0, 2], SeededSamples(RandomSamples(), seed=8)[0, 2])
