"""Memory readings, limits and out-of-memory errors."""

import re
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from snippets import memory
from snippets.errors import UsageError, exit_with_one_line
from snippets.memory import (
    MemoryReading,
    is_out_of_memory,
    limit_memory,
    main,
    memory_mb,
    read_memory,
    release_unused,
)

CPU, MPS, CUDA = map(torch.device, ("cpu", "mps", "cuda"))


@pytest.fixture
def mac(monkeypatch):
    """Let PyTorch report the memory of a Mac with 8 GB, and return the calls that change something."""
    calls = []
    figures = {
        "current_allocated_memory": 1_500_000_000,
        "driver_allocated_memory": 4_000_000_000,
        "recommended_max_memory": 5_726_000_000,
    }
    for name, value in figures.items():
        monkeypatch.setattr(torch.mps, name, lambda value=value: value)
    monkeypatch.setattr(torch.accelerator, "max_memory_allocated", lambda: 2_250_000_000)
    monkeypatch.setattr(torch.mps, "empty_cache", lambda: calls.append("empty_cache"))
    monkeypatch.setattr(torch._C, "_mps_setMemoryFraction", calls.append, raising=False)
    return calls


@pytest.fixture
def card(monkeypatch):
    """Let PyTorch report the memory of a CUDA card with 16 GB, and return the calls that change something."""
    calls = []
    figures = {"memory_allocated": 3e9, "memory_reserved": 7e6, "max_memory_allocated": 4e9}
    for name, value in figures.items():
        monkeypatch.setattr(torch.cuda, name, lambda device, value=int(value): value)
    card = SimpleNamespace(total_memory=16_000_000_000)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda device: card)
    monkeypatch.setattr(torch.cuda, "set_per_process_memory_fraction", lambda *what: calls.append(what))
    monkeypatch.setattr(torch.cuda, "empty_cache", lambda: calls.append("empty_cache"))
    return calls


def test_the_cpu_figure_is_the_most_that_was_held():
    held = torch.ones(25_000_000)
    assert memory_mb(CPU) >= held.nbytes / 1e6
    assert read_memory(CPU).peak >= held.nbytes
    if sys.platform == "linux":  # which tells the most that was held in its own words, too
        (said,) = re.findall(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
        assert memory_mb(CPU) == pytest.approx(int(said) * 1024 / 1e6, rel=1e-3)


def test_units_of_getrusage_differ(monkeypatch):
    monkeypatch.setattr(memory.resource, "getrusage", lambda who: SimpleNamespace(ru_maxrss=3_000_000))
    monkeypatch.setattr(sys, "platform", "linux")
    assert memory_mb(CPU) == 3072.0  # Linux counts in units of 1024 bytes
    monkeypatch.setattr(sys, "platform", "darwin")
    assert memory_mb(CPU) == 3.0


def test_accelerators_ask_their_own_allocator(mac, card):
    assert memory_mb(MPS) == 4000.0
    assert memory_mb(CUDA) == 7.0


def test_reading_on_mps(mac):
    reading = read_memory(MPS)
    assert str(reading) == "mps: tensors 1.40 GiB, held 3.73 GiB, peak 2.10 GiB, capacity 5.33 GiB"


def test_the_peak_on_mps_is_counted_since_2_13(mac, monkeypatch):
    monkeypatch.setattr(torch, "__version__", torch.torch_version.TorchVersion("2.12.1"))
    assert read_memory(MPS).peak is None
    assert str(read_memory(MPS)) == "mps: tensors 1.40 GiB, held 3.73 GiB, capacity 5.33 GiB"
    monkeypatch.setattr(torch, "__version__", torch.torch_version.TorchVersion("2.13.0"))
    assert read_memory(MPS).peak == 2_250_000_000


def test_reading_on_cuda(card):
    assert (
        str(read_memory(CUDA)) == "cuda: tensors 2.79 GiB, held 0.01 GiB, peak 3.73 GiB, capacity 14.90 GiB"
    )


def test_reading_on_the_cpu():
    reading = read_memory(CPU)
    assert reading.tensors is None
    assert reading.held is None
    assert 0 < reading.peak < reading.capacity
    line = str(MemoryReading("cpu", None, None, 570_000_000, 25_280_000_000))
    assert line == "cpu: peak 0.53 GiB, capacity 23.54 GiB"


def test_mps_limit_is_a_share_of_metals_recommendation(mac):
    assert limit_memory(MPS, 0.5) == 2_863_000_000
    assert limit_memory(MPS, 1) == 5_726_000_000  # PyTorch itself refuses an int
    assert limit_memory(MPS, 2) == 11_452_000_000
    assert mac == [0.5, 1.0, 2.0]
    assert all(isinstance(fraction, float) for fraction in mac)
    with pytest.raises(TypeError):
        torch.mps.set_per_process_memory_fraction(1)


def test_cuda_limit_is_a_share_of_the_card(card):
    assert limit_memory(CUDA, 0.25) == 4_000_000_000
    assert card == [(0.25, None)]  # PyTorch refuses a CUDA device without an index


@pytest.mark.parametrize("fraction", [0, 0.0, -0.5, 2.1, float("nan"), float("inf")])
def test_no_limit_and_impossible_limits_are_refused(mac, fraction):
    with pytest.raises(UsageError, match="above 0 and up to 2"):
        limit_memory(MPS, fraction)
    assert mac == []


def test_other_devices_have_other_ranges(card):
    with pytest.raises(UsageError, match="on cuda, choose a fraction above 0 and up to 1"):
        limit_memory(CUDA, 1.5)
    with pytest.raises(UsageError, match="cannot limit memory on 'cpu'"):
        limit_memory(CPU, 0.5)


@pytest.mark.slow
def test_unused_memory_is_given_back(mac, card):
    release_unused(MPS)
    assert mac == ["empty_cache"]
    release_unused(CUDA)
    assert card == ["empty_cache"]
    release_unused(CPU)


def test_a_real_allocation_that_fails_is_recognised():
    with pytest.raises(RuntimeError) as caught:
        torch.empty(1 << 60)
    assert is_out_of_memory(caught.value)


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (RuntimeError("MPS backend out of memory (MPS allocated: 8.00 GB)"), True),
        (RuntimeError("Invalid buffer size: 19.38 GiB"), True),
        (RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"), True),
        (torch.OutOfMemoryError("CUDA out of memory."), True),
        (MemoryError(), True),
        (RuntimeError("mat1 and mat2 shapes cannot be multiplied"), False),
        (ValueError("out of memory"), False),
    ],
)
def test_which_errors_mean_out_of_memory(error, expected):
    assert is_out_of_memory(error) is expected


def test_command_line(capsys):
    assert exit_with_one_line(main, ["cpu"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(": cpu: ")[0] for line in lines] == [
        "at the start",
        "with a tensor of 100 MB",
        "without it",
        "cache released",
    ]
    assert exit_with_one_line(main, ["cpu", "mps"]) == 2
    assert capsys.readouterr().err == "error: expected at most one device, got 'cpu mps'\n"
