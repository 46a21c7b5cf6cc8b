"""Measure a loader alone: the time until the first batch, and the speed after it.

`python -m snippets.loader_speed 0 2` compares numbers of workers, on samples that each need CPU time.
"""

import argparse
import os
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch.utils.data import Dataset

from snippets.data_loading import EpochLoader
from snippets.errors import exit_with_one_line

BATCH_SIZE = 16
PREPARED = 4  # batches that may be ready when the clock starts, and are not counted
COUNTED = 20  # batches


def seconds_to_first(batches: Iterator[Any]) -> float:
    """Return the seconds until the first batch, which with workers are mostly their start."""
    start = time.perf_counter()
    next(batches)
    return time.perf_counter() - start


# --8<-- [start:measure]
def seconds_per_batch(batches: Iterator[Any], prepared: int, count: int) -> float:
    """Return the mean seconds per batch of `count` batches, taken as fast as they come.

    The first `prepared` batches, which workers had ready, are not counted. It is a mean and not a median,
    because batches of several workers arrive in bursts.
    """
    for _ in range(prepared):
        next(batches)
    start = time.perf_counter()
    for _ in range(count):
        next(batches)
    return (time.perf_counter() - start) / count


# --8<-- [end:measure]
def seconds_per_step(loading: float, computing: float, workers: int) -> float:
    """Return the seconds of a training step whose parts alone take `loading` and `computing` seconds.

    Without workers the two times add up; with workers the longer one decides.
    """
    return max(loading, computing) if workers else loading + computing


class BusySamples(Dataset):
    """Samples that need CPU time, like decoding and augmentation."""

    def __init__(self, count: int, milliseconds: float) -> None:
        """Each of `count` samples takes `milliseconds` of CPU time."""
        self.count, self.milliseconds = count, milliseconds

    def __len__(self) -> int:
        """Return the number of samples."""
        return self.count

    def __getitem__(self, index: int) -> torch.Tensor:
        """Compute for the given time, then return a sample of one number."""
        end = time.thread_time() + self.milliseconds / 1000
        while time.thread_time() < end:
            pass
        return torch.tensor([index])


def measure(workers: int, milliseconds: float) -> tuple[float, float]:
    """Return the seconds until the first batch, and the samples per second after it."""
    dataset = BusySamples(BATCH_SIZE * (1 + PREPARED + COUNTED), milliseconds)
    loader = EpochLoader(dataset, BATCH_SIZE, 0, workers=workers, device=torch.device("cpu"))
    batches = loader.batches(0)
    first = seconds_to_first(batches)
    return first, BATCH_SIZE / seconds_per_batch(batches, PREPARED, COUNTED)


def main(argv: Sequence[str] | None = None) -> int:
    """Print a line for each number of workers."""
    parser = argparse.ArgumentParser(description="Measure a loader with several numbers of workers.")
    add = parser.add_argument
    add("workers", nargs="*", type=int, default=[0, 2], help="how many each; 0 2")
    add("--milliseconds", type=float, default=2.0, help="CPU time of a sample; 2")
    options = parser.parse_args(argv)
    if min(*options.workers, options.milliseconds) < 0:
        parser.error(f"{min(*options.workers, options.milliseconds):g}: workers and milliseconds begin at 0")
    print(
        f"PyTorch {torch.__version__}, {os.cpu_count()} cores; {options.milliseconds:g} ms of work per sample"
    )
    print("workers   first batch    after that")
    for workers in options.workers:
        first, speed = measure(workers, options.milliseconds)
        print(f"{workers:7} {first:11.2f} s {speed:7.0f} samples/s", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(exit_with_one_line(main))
