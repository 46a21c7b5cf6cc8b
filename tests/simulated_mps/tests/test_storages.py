"""Pinned memory, and storages on the device."""

import gc

import torch
from torch import nn


def test_tensors_can_be_pinned():
    plain = torch.arange(3.0)
    pinned = plain.pin_memory()
    assert pinned.device.type == "cpu"
    assert pinned.tolist() == [0, 1, 2]
    assert (plain.is_pinned(), pinned.is_pinned(), pinned[1:].is_pinned()) == (False, True, True)
    assert pinned.to("mps", non_blocking=True).tolist() == [0, 1, 2]
    assert torch.zeros(0).pin_memory().numel() == 0


def test_memory_is_no_longer_pinned_when_it_was_freed():
    addresses = set()
    for _ in range(50):
        pinned = torch.zeros(1000).pin_memory()
        addresses.add(pinned.data_ptr())
        del pinned
    gc.collect()
    plain = [torch.zeros(1000) for _ in range(50)]
    reused = [tensor for tensor in plain if tensor.data_ptr() in addresses]
    assert not any(tensor.is_pinned() for tensor in reused)


def test_storages_are_copied_on_their_device():
    for device in ("cpu", "mps"):
        tensor = torch.arange(3.0, device=device)
        copy = tensor.untyped_storage().clone()
        assert copy.device.type == device
        tensor.zero_()
        assert torch.empty(0, device=device).set_(copy.clone(), 0, (3,), (1,)).tolist() == [0, 1, 2]


def test_models_take_batches_from_pinned_memory():
    layer = nn.Linear(3, 2).to("mps")
    assert layer(torch.ones(4, 3).pin_memory().to("mps")).shape == (4, 2)


def test_nothing_is_captured_for_xcode():
    assert not torch.mps.profiler.is_metal_capture_enabled()
    assert not torch.mps.profiler.is_capturing_metal()
