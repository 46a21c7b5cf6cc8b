"""Gradients are averaged on the CPU and return to their device."""

import pytest
import torch
import torch.distributed as dist
from torch import nn

from snippets.gradients_through_cpu import average_gradients


def test_each_gradient_becomes_the_mean_of_two_processes(monkeypatch):
    available = torch.backends.mps.is_available()
    model = nn.Sequential(nn.Linear(3, 2), nn.Linear(2, 1)).to("mps" if available else "cpu")
    model[1].bias.requires_grad_(False)
    model(torch.ones(4, 3, device=model[0].weight.device)).sum().backward()
    before = [weight.grad.clone() for weight in model.parameters() if weight.grad is not None]

    def with_another_process(own):
        assert own.device.type == "cpu"
        own += 1  # its gradients are all 1

    monkeypatch.setattr(dist, "all_reduce", with_another_process)
    monkeypatch.setattr(dist, "get_world_size", lambda: 2)
    average_gradients(model)
    after = [weight.grad for weight in model.parameters() if weight.grad is not None]
    assert len(after) == 3
    for old, new in zip(before, after, strict=True):
        assert new.device == old.device
        assert torch.allclose(new, (old + 1) / 2)


def test_it_needs_a_process_group():
    model = nn.Linear(2, 1)
    model(torch.ones(1, 2)).sum().backward()
    with pytest.raises(ValueError, match="process group"):
        average_gradients(model)
