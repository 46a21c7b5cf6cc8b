"""Batches reach the device whole, and without waiting only where that is safe."""

from collections import namedtuple

import pytest
import torch
from torch.utils.data import TensorDataset

from snippets import data_on_device
from snippets.data_loading import EpochLoader
from snippets.data_on_device import (
    ResidentBatches,
    count_wrong_copies,
    fits_on,
    main,
    may_copy_without_waiting,
    tensor_bytes,
    to_device,
)
from snippets.errors import UsageError
from snippets.memory import MemoryReading

META = torch.device("meta")  # every machine has it, and it is not the CPU
Pair = namedtuple("Pair", "left right")


def test_every_tensor_of_a_nested_batch_moves():
    batch = {"image": torch.ones(2), "rest": [torch.ones(3), ("text", Pair(torch.ones(4), 5))], "none": None}
    moved = to_device(batch, META)
    assert moved["image"].device == META
    assert moved["rest"][0].device == META
    text, pair = moved["rest"][1]
    assert (text, type(pair), pair.right, moved["none"]) == ("text", Pair, 5, None)
    assert pair.left.device == META
    assert batch["image"].device.type == "cpu"


def test_a_batch_that_is_there_already_is_not_copied():
    tensor = torch.ones(2)
    assert to_device(tensor, torch.device("cpu")) is tensor


@pytest.mark.parametrize(
    ("device", "version", "pinned", "expected"),
    [
        ("mps", (2, 12), False, False),
        ("mps", (2, 13), False, True),
        ("mps", (2, 15), False, True),
        ("cuda", (2, 15), False, False),
        ("cuda", (2, 15), True, True),
        ("cpu", (2, 15), True, False),
    ],
)
def test_when_the_cpu_need_not_wait(monkeypatch, device, version, pinned, expected):
    monkeypatch.setattr(torch, "__version__", version)  # PyTorch's own compares itself with tuples, too
    monkeypatch.setattr(torch.Tensor, "is_pinned", lambda tensor: pinned)
    assert may_copy_without_waiting(torch.ones(1), torch.device(device)) is expected


def test_copies_to_the_cpu_are_waited_for():
    assert not may_copy_without_waiting(torch.ones(1, device=META), torch.device("cpu"))


def test_pytorch_compares_its_version_with_a_pair():
    assert torch.__version__ >= (2, 11)
    assert not torch.__version__ >= (99, 0)


def test_size_of_cifar_10():
    images = torch.empty(60_000, 3, 32, 32, dtype=torch.uint8, device=META)
    labels = torch.empty(60_000, dtype=torch.int64, device=META)
    assert tensor_bytes({"images": images, "labels": [labels]}) == 60_000 * (3 * 32 * 32 + 8)


@pytest.mark.parametrize(
    ("size", "share", "expected"), [(25, 0.25, True), (26, 0.25, False), (26, 0.3, True)]
)
def test_what_fits(monkeypatch, size, share, expected):
    reading = MemoryReading("cpu", tensors=None, held=None, peak=None, capacity=100)
    monkeypatch.setattr(data_on_device, "read_memory", lambda device: reading)
    assert fits_on(torch.device("cpu"), size, share) is expected


@pytest.mark.parametrize("share", [0, -1, 1.01, float("nan")])
def test_a_share_is_a_share(share):
    with pytest.raises(UsageError, match="share of memory"):
        fits_on(torch.device("cpu"), 1, share)


def test_copies_are_counted_as_wrong_when_they_are(monkeypatch, capsys):
    assert main(["cpu"]) == 0
    assert capsys.readouterr().out == "0 of 1000 copies to cpu went wrong\n"
    original, copies = torch.Tensor.to, []

    def reuse_the_memory(tensor, *arguments, **named):
        copies.append(original(tensor, *arguments, **named))
        return copies[-1] * (2 if len(copies) % 10 == 0 else 1)

    monkeypatch.setattr(torch.Tensor, "to", reuse_the_memory)
    assert count_wrong_copies(torch.device("cpu"), 100) == 10


def test_one_device_at_most():
    with pytest.raises(UsageError, match="at most one device"):
        main(["cpu", "mps"])


def test_resident_batches_equal_those_of_a_loader():
    images, labels = torch.arange(10).float()[:, None], torch.arange(10)
    resident = ResidentBatches((images, labels), batch_size=3, seed=7)
    loader = EpochLoader(TensorDataset(images, labels), 3, 7, workers=0, device=torch.device("cpu"))
    for epoch in (0, 1):
        batches = list(resident.batches(epoch))
        assert [len(part) for _, part in batches] == [3, 3, 3]  # the tenth sample makes no whole batch
        assert all(torch.equal(values[:, 0], part.float()) for values, part in batches)
        order = torch.cat([part for _, part in batches])
        assert torch.equal(order, torch.cat([part for _, part in loader.batches(epoch)]))
        assert torch.equal(order[6:], torch.cat([part for _, part in resident.batches(epoch, 2)]))
