"""How much memory a run uses, and whether an error means that it was too much."""

import resource
import sys

import torch


def memory_mb(device: torch.device) -> float:
    """Return the memory of this process in MB (10⁶ bytes).

    MPS: what the Metal driver has given it. CUDA: what PyTorch's allocator has reserved. CPU: the peak of its
    resident memory, which `getrusage` reports in bytes on macOS and in kB on Linux.
    """
    if device.type == "mps":
        return torch.mps.driver_allocated_memory() / 1e6
    if device.type == "cuda":
        return torch.cuda.memory_reserved(device) / 1e6
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1e6 if sys.platform == "darwin" else peak / 1e3


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether `error` says that the device or the computer has no memory left.

    Only CUDA has a class of its own for it; MPS and the CPU raise a plain RuntimeError with a telling text.
    """
    if isinstance(error, torch.OutOfMemoryError | MemoryError):
        return True
    texts = ("out of memory", "not enough memory", "can't allocate memory")
    return isinstance(error, RuntimeError) and any(text in str(error) for text in texts)
