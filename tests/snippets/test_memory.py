"""Memory figures and out-of-memory errors."""

import sys
from types import SimpleNamespace

import pytest
import torch

from snippets import memory
from snippets.memory import is_out_of_memory, memory_mb


def test_the_cpu_figure_grows_with_what_is_held():
    before = memory_mb(torch.device("cpu"))
    held = torch.ones(int(before * 1e6 + 100e6) // 4)
    assert memory_mb(torch.device("cpu")) >= held.numel() * 4 / 1e6


def test_units_of_getrusage_differ(monkeypatch):
    monkeypatch.setattr(memory.resource, "getrusage", lambda who: SimpleNamespace(ru_maxrss=3_000_000))
    monkeypatch.setattr(sys, "platform", "linux")
    assert memory_mb(torch.device("cpu")) == 3000.0
    monkeypatch.setattr(sys, "platform", "darwin")
    assert memory_mb(torch.device("cpu")) == 3.0


def test_accelerators_ask_their_own_allocator(monkeypatch):
    monkeypatch.setattr(torch.mps, "driver_allocated_memory", lambda: 5_000_000)
    monkeypatch.setattr(torch.cuda, "memory_reserved", lambda device: 7_000_000)
    assert memory_mb(torch.device("mps")) == 5.0
    assert memory_mb(torch.device("cuda")) == 7.0


def test_a_real_allocation_that_fails_is_recognised():
    with pytest.raises(RuntimeError) as caught:
        torch.empty(1 << 60)
    assert is_out_of_memory(caught.value)


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (
            RuntimeError("MPS backend out of memory (MPS allocated: 8.00 GB)"),
            True,
        ),
        (torch.OutOfMemoryError("CUDA out of memory."), True),
        (MemoryError(), True),
        (RuntimeError("mat1 and mat2 shapes cannot be multiplied"), False),
        (ValueError("out of memory"), False),
    ],
)
def test_which_errors_mean_out_of_memory(error, expected):
    assert is_out_of_memory(error) is expected
