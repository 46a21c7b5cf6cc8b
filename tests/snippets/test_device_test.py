"""The tests that the page shows pass on the CPU, and notice what they claim to notice."""

import pytest
import torch

from snippets import device_test


def test_they_pass_on_the_cpu(tmp_path, monkeypatch):
    monkeypatch.setattr(device_test, "DEVICE", torch.device("cpu"))
    device_test.test_training_lowers_the_loss()
    device_test.test_a_checkpoint_opens_without_the_device(tmp_path)
    device_test.test_distances_have_gradients()


def test_a_training_that_learns_nothing_fails(monkeypatch):
    monkeypatch.setattr(torch.optim.AdamW, "step", lambda optimizer: None)
    with pytest.raises(AssertionError):
        device_test.test_training_lowers_the_loss()


def test_weights_that_stay_on_another_device_fail(tmp_path, monkeypatch):
    load = torch.load
    elsewhere = lambda *words, **settings: load(*words, **settings | {"map_location": "meta"})  # noqa: E731
    monkeypatch.setattr(torch, "load", elsewhere)
    with pytest.raises(AssertionError):
        device_test.test_a_checkpoint_opens_without_the_device(tmp_path)
