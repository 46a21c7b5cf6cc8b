"""Gradient checkpointing: the same gradients from less memory, also where PyTorch forgets the generator."""

import weakref
from functools import partial
from typing import ClassVar

import pytest
import torch
from torch import nn
from torch.utils import checkpoint as pytorch_checkpoint

from snippets import recompute
from snippets.recompute import run_recomputed, same_random_numbers


def make_blocks():
    torch.manual_seed(1)
    return nn.ModuleList(nn.Sequential(nn.Linear(6, 6), nn.Dropout(0.5), nn.Tanh()) for _ in range(3))


def make_input():
    torch.manual_seed(2)
    return torch.randn(16, 6)


def run_plain(blocks, x):
    for block in blocks:
        x = block(x)
    return x


def run_as_pytorch_does_on_mps(blocks, x):
    """PyTorch looks for `torch.mps._initialized`, finds none, and saves no state of the device."""
    for block in blocks:
        x = pytorch_checkpoint.checkpoint(block, x, use_reentrant=False, preserve_rng_state=False)
    return x


def train_with(run):
    """Return output, gradients and the next random number after a forward and backward pass."""
    blocks = make_blocks()
    torch.manual_seed(3)
    output = run(blocks, make_input())
    output.square().sum().backward()
    return output.detach(), [weight.grad for weight in blocks.parameters()], torch.rand(1)


@pytest.fixture
def no_help_from_pytorch(monkeypatch):
    """Let checkpoint() leave the generator alone, as it does for MPS."""
    forgetful = partial(pytorch_checkpoint.checkpoint, preserve_rng_state=False)
    monkeypatch.setattr(recompute, "checkpoint", forgetful)


def test_gradients_are_equal_to_the_last_bit():
    plain, recomputed = train_with(run_plain), train_with(run_recomputed)
    assert torch.equal(plain[0], recomputed[0])
    assert all(map(torch.equal, plain[1], recomputed[1]))


def test_gradients_are_equal_without_pytorchs_generator_saving(no_help_from_pytorch):
    plain, recomputed = train_with(run_plain), train_with(run_recomputed)
    assert torch.equal(plain[0], recomputed[0])
    assert all(map(torch.equal, plain[1], recomputed[1]))
    assert torch.equal(plain[2], recomputed[2])  # later random numbers are as they would be


def test_without_the_generator_the_gradients_are_wrong():
    plain, forgotten = train_with(run_plain), train_with(run_as_pytorch_does_on_mps)
    assert torch.equal(plain[0], forgotten[0])  # nothing to be seen in the forward pass
    assert max((a - b).abs().max() for a, b in zip(plain[1], forgotten[1], strict=True)) > 0.1


def test_pytorch_has_no_state_to_ask_for_on_mps():
    """Both are what torch/utils/checkpoint.py of 2.15.0 needs. When this fails, look at it again."""
    assert not hasattr(torch.mps, "_initialized")
    assert not hasattr(torch.mps, "device")


def test_the_generator_of_the_device_is_used(monkeypatch):
    calls = []
    monkeypatch.setattr(torch.mps, "get_rng_state", lambda: calls.append("get") or f"state {len(calls)}")
    monkeypatch.setattr(torch.mps, "set_rng_state", calls.append)
    first, second = same_random_numbers(torch.device("mps"))
    with first:
        pass
    with second:
        calls.append("again")
    assert calls == ["get", "get", "state 1", "again", "state 2"]


class KeepsItsOutput(torch.autograd.Function):
    """Doubles its input, and keeps the result in an array; a weak reference tells when it is freed."""

    arrays: ClassVar[list[weakref.ref]] = []

    @staticmethod
    def forward(context, x):
        array = 2 * x.numpy()
        KeepsItsOutput.arrays.append(weakref.ref(array))
        doubled = torch.from_numpy(array)  # holds the array as long as any tensor uses its memory
        context.save_for_backward(doubled)
        return doubled

    @staticmethod
    def backward(context, gradient):
        assert context.saved_tensors[0].isfinite().all()
        return 2 * gradient


@pytest.mark.parametrize(("run", "kept"), [(run_plain, True), (run_recomputed, False)])
def test_what_lies_within_a_block_is_not_kept(run, kept):
    KeepsItsOutput.arrays.clear()
    weights = make_input().requires_grad_()
    output = run([lambda x: KeepsItsOutput.apply(x) + 1], weights)
    assert [array() is not None for array in KeepsItsOutput.arrays] == [kept]
    output.sum().backward()
    assert torch.equal(weights.grad, torch.full_like(weights, 2.0))
    assert len(KeepsItsOutput.arrays) == (1 if kept else 2)  # computed once, or twice


def test_batch_normalisation_counts_the_batch_twice():
    norm = nn.BatchNorm1d(6)
    run_recomputed([norm], make_input().requires_grad_()).sum().backward()
    assert norm.num_batches_tracked == 2
