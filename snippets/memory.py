"""Measure and limit the memory of a process, and recognise errors of too little memory.

`python -m snippets.memory [DEVICE]` prints a reading of this machine.
"""

import gc
import math
import os
import resource
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from snippets.device import typed_device
from snippets.errors import UsageError, exit_with_one_line

MPS_STATISTICS_SINCE = (2, 13)  # torch.accelerator counts memory on MPS from this PyTorch on


def memory_mb(device: torch.device) -> float:
    """Return the memory of this process in MB (10⁶ bytes).

    MPS: memory allocated by the Metal driver. CUDA: memory reserved by PyTorch's allocator. CPU: the peak
    resident memory.
    """
    if device.type == "mps":
        return torch.mps.driver_allocated_memory() / 1e6
    if device.type == "cuda":
        return torch.cuda.memory_reserved(device) / 1e6
    return peak_resident() / 1e6


def peak_resident() -> int:
    """Return the highest resident memory of this process so far, in bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024  # macOS counts bytes, Linux kB


@dataclass(frozen=True)
class MemoryReading:
    """Memory of this process on one device, in bytes; None where the backend does not count it."""

    device: str
    tensors: int | None  # live tensors
    held: int | None  # allocated by the driver: live tensors, cached blocks, graphs
    peak: int | None  # highest `tensors` so far; on the CPU the highest resident memory
    capacity: int  # MPS: the most that Metal recommends; CUDA: the card's memory; CPU: the computer's

    def __str__(self) -> str:
        """Return one line in GiB (2³⁰ bytes), as PyTorch counts in its errors."""
        figures = {"tensors": self.tensors, "held": self.held, "peak": self.peak, "capacity": self.capacity}
        known = [f"{name} {value / 2**30:.2f} GiB" for name, value in figures.items() if value is not None]
        return f"{self.device}: {', '.join(known)}"


def read_memory(device: torch.device) -> MemoryReading:
    """Return the memory that this process, and no other, uses on `device`."""
    if device.type == "mps":
        counted = torch.__version__ >= MPS_STATISTICS_SINCE
        return MemoryReading(
            device="mps",
            tensors=torch.mps.current_allocated_memory(),
            held=torch.mps.driver_allocated_memory(),
            peak=torch.accelerator.max_memory_allocated() if counted else None,
            capacity=torch.mps.recommended_max_memory(),
        )
    if device.type == "cuda":
        return MemoryReading(
            device="cuda",
            tensors=torch.cuda.memory_allocated(device),
            held=torch.cuda.memory_reserved(device),
            peak=torch.cuda.max_memory_allocated(device),
            capacity=torch.cuda.get_device_properties(device).total_memory,
        )
    installed = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return MemoryReading("cpu", tensors=None, held=None, peak=peak_resident(), capacity=installed)


def limit_memory(device: torch.device, fraction: float) -> int:
    """Let allocations on `device` fail beyond a limit, and return it in bytes.

    The limit is `fraction` of the size that Metal recommends (MPS, up to 2) or of the card's memory (CUDA, up
    to 1). Raises UsageError for other values, for 0, which on MPS means "no limit", and for the CPU.
    """
    if device.type not in ("mps", "cuda"):
        raise UsageError(f"PyTorch cannot limit memory on {device.type!r}; in a shell, `ulimit -v` may")
    highest = 2.0 if device.type == "mps" else 1.0
    fraction = float(fraction)  # PyTorch raises TypeError for an int
    if math.isnan(fraction) or not 0 < fraction <= highest:
        raise UsageError(
            f"memory limit {fraction:g}: on {device.type}, choose a fraction above 0 and up to {highest:g}"
        )
    if device.type == "mps":
        torch.mps.set_per_process_memory_fraction(fraction)
    else:
        torch.cuda.set_per_process_memory_fraction(fraction, device.index)  # None: the current card
    return int(fraction * read_memory(device).capacity)


# --8<-- [start:out_of_memory]
OUT_OF_MEMORY_TEXTS = (
    "out of memory",  # MPS: "MPS backend out of memory (MPS allocated: …"
    "Invalid buffer size",  # MPS: one tensor larger than Metal allows for one buffer
    "can't allocate memory",  # CPU on Linux and macOS
    "not enough memory",  # CPU elsewhere
    "CUBLAS_STATUS_ALLOC_FAILED",  # CUDA, when the library itself runs out of memory
)


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether `error` means that the device or the computer ran out of memory.

    Only CUDA and, since 2.15, commands that failed on an MPS GPU raise a class of their own. The limits of
    MPS and the CPU raise a plain RuntimeError, which is recognised by its text.
    """
    if isinstance(error, torch.OutOfMemoryError | MemoryError):
        return True
    return isinstance(error, RuntimeError) and any(text in str(error) for text in OUT_OF_MEMORY_TEXTS)


# --8<-- [end:out_of_memory]


def release_unused(device: torch.device) -> None:
    """Release memory that no tensor uses. Call it between phases of a program, not between steps."""
    gc.collect()  # tensors in reference cycles are live until then
    if device.type != "cpu":
        torch.get_device_module(device).empty_cache()


def main(argv: Sequence[str] | None = None) -> int:
    """Print a reading, before and after a tensor of 100 MB."""
    device, _ = typed_device(argv)
    print(f"at the start: {read_memory(device)}")
    tensor = torch.ones(25_000_000, device=device)  # float32: 4 bytes each
    print(f"with a tensor of 100 MB: {read_memory(device)}")
    del tensor
    print(f"without it: {read_memory(device)}")
    release_unused(device)
    print(f"cache released: {read_memory(device)}")
    return 0


if __name__ == "__main__":
    sys.exit(exit_with_one_line(main))
