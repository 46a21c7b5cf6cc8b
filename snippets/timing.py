"""Time work on a device: wait for the device, discard the first runs, report the spread.

`python -m snippets.timing` times a matrix product on this machine, with and without waiting for the device.
"""

import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

from snippets.device import synchronize, typed_device
from snippets.errors import exit_with_one_line

Work = Callable[[], object]

# Rows and columns of the matrices that `python -m snippets.timing` multiplies: some milliseconds each.
CPU_SIZE, GPU_SIZE = 1024, 4096


@dataclass(frozen=True)
class Spread:
    """The median of many measurements, and their 10 % and 90 % quantiles."""

    median: float
    low: float
    high: float
    count: int


def spread(values: Sequence[float]) -> Spread:
    """Return median, 10 % and 90 % quantile of at least one value, in the unit of the values."""
    if len(values) == 1:
        return Spread(values[0], values[0], values[0], 1)
    tenths = statistics.quantiles(values, n=10, method="inclusive")  # interpolates linearly
    return Spread(statistics.median(values), tenths[0], tenths[-1], len(values))


def time_once(work: Work, device: torch.device) -> float:
    """Return the seconds from calling `work` until `device` has finished it. The device must be idle."""
    start = time.perf_counter()
    work()
    synchronize(device)
    return time.perf_counter() - start


def measure(work: Work, device: torch.device, *, warm_up: int = 10, repeats: int = 30) -> list[float]:
    """Return the seconds of each of `repeats` calls of `work`, after `warm_up` calls that are not timed.

    The first calls load libraries, compile kernels and reserve memory.
    """
    for _ in range(warm_up):
        work()
    synchronize(device)
    return [time_once(work, device) for _ in range(repeats)]


@dataclass(frozen=True)
class Comparison:
    """Seconds of two kinds of work, and the ratios second / first of successive calls."""

    first: Spread
    second: Spread
    ratio: Spread


def compare(
    first: Work, second: Work, device: torch.device, *, warm_up: int = 10, pairs: int = 30
) -> Comparison:
    """Time two kinds of work in turns and compare the calls of each pair.

    A temporary slowdown (heat, another program) then affects both. Every second pair runs in the opposite
    order, so that neither always follows the other.
    """
    for _ in range(warm_up):
        first()
        second()
    synchronize(device)
    seconds: tuple[list[float], list[float]] = ([], [])
    for pair in range(pairs):
        for which in (0, 1) if pair % 2 == 0 else (1, 0):
            seconds[which].append(time_once((first, second)[which], device))
    ratios = [b / a for a, b in zip(*seconds, strict=True)]
    return Comparison(spread(seconds[0]), spread(seconds[1]), spread(ratios))


# --8<-- [start:hand_over]
def time_without_waiting(work: Work, *, repeats: int = 30) -> list[float]:
    """Make the common mistake: read the clock when a GPU has received the work, not when it has finished."""
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return seconds


# --8<-- [end:hand_over]
def describe(name: str, found: Spread, size: int) -> str:
    """Return one line about products of `size` × `size` matrices that took `found` seconds each."""
    rate = 2 * size**3 / found.median / 1e12  # size³ multiplications and as many additions
    limits = f"{1e3 * found.low:.3f} to {1e3 * found.high:.3f}"
    return f"{name:<14} {1e3 * found.median:9.3f} ms ({limits})  {rate:10.2f} TFLOPS"


def main(argv: Sequence[str] | None = None) -> int:
    """Time a matrix product on a device, with and without waiting for the device."""
    device, reason = typed_device(argv)
    size = CPU_SIZE if device.type == "cpu" else GPU_SIZE
    matrix = torch.rand(size, size, device=device)
    waiting = measure(lambda: matrix @ matrix, device)
    not_waiting = time_without_waiting(lambda: matrix @ matrix)
    print(f"{size} × {size} matrices, float32, on {device} ({reason})")
    print(f"PyTorch {torch.__version__}, {torch.get_num_threads()} CPU threads; median (10 % to 90 %)")
    print(describe("waiting", spread(waiting), size))
    print(describe("not waiting", spread(not_waiting), size))
    return 0


if __name__ == "__main__":
    sys.exit(exit_with_one_line(main))
