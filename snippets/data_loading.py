"""Load batches with worker processes, under the rules of macOS, on every system."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker
from typing import Any

import torch
from torch.utils.data import DataLoader, Dataset

from snippets.data_on_device import to_device
from snippets.data_order import EpochBatches, SeededSamples
from snippets.framework.errors import RunError, UsageError
from snippets.worker_checks import (
    check_can_be_sent,
    check_main_guard,
    collate_on_cpu,
    end_without_parent,
)

WORKERS_PER_CORE = 4  # more only wait for each other, and each holds a PyTorch of its own in memory


# --8<-- [start:loader_options]
def loader_options(workers: int, device: torch.device, prefetch: int = 2) -> dict[str, Any]:
    """Return arguments for `DataLoader` that go together, to feed `device` with `workers` processes.

    Each worker prepares `prefetch` batches ahead. Raises UsageError for impossible numbers.
    """
    cores = os.cpu_count() or 1
    if not 0 <= workers <= WORKERS_PER_CORE * cores:
        raise UsageError(
            f"{workers} workers: choose 0 to {WORKERS_PER_CORE * cores}, this machine has {cores} cores"
        )
    if not 1 <= prefetch <= 1000:
        raise UsageError(f"prefetch {prefetch}: choose 1 to 1000 batches per worker")
    options = {"num_workers": workers, "pin_memory": device.type == "cuda"}  # on MPS it only brings a warning
    if workers:  # each of these is an error without workers
        options |= {
            "multiprocessing_context": "spawn",  # the default on macOS: what works so, works everywhere
            "persistent_workers": True,  # or they start anew in each epoch
            "prefetch_factor": prefetch,
        }
    return options


# --8<-- [end:loader_options]
# --8<-- [start:epoch_loader]
class EpochLoader:
    """The batches of a data set on a device: the same for any number of workers, and in a resumed run."""

    def __init__(
        self, dataset: Dataset, batch_size: int, seed: int, *, workers: int, device: torch.device
    ) -> None:
        """Check what can be checked before a worker starts. Raises UsageError."""
        options = loader_options(workers, device)
        if workers:
            check_main_guard()
            check_can_be_sent(dataset)
            options |= {"collate_fn": collate_on_cpu, "worker_init_fn": end_without_parent}
        self.device = device
        self.order = EpochBatches(len(dataset), batch_size, seed)
        # Without a generator of its own, the loader takes a number from the global one at every start.
        self.loader = DataLoader(
            SeededSamples(dataset, seed), batch_sampler=self.order, generator=torch.Generator(), **options
        )

    def batches(self, epoch: int, first: int = 0) -> Iterator[Any]:
        """Yield the batches of `epoch` from number `first` on, on the device; one iterator at a time.

        Raises a worker's UsageError without its traceback, and RunError when a worker process dies.
        """
        self.order.start_at(epoch, first)
        try:
            with interrupts_blocked():
                batches = iter(self.loader)
            for batch in batches:
                yield to_device(batch, self.device)
        except UsageError as error:
            raise UsageError(
                str(error).rpartition("UsageError: ")[2]
            ) from None  # without the worker's traceback
        except RuntimeError as error:
            if not is_worker_death(error):
                raise
            raise worker_death(error) from None


# --8<-- [end:epoch_loader]
def is_worker_death(error: BaseException) -> bool:
    """Return whether `error` is PyTorch's report that a worker process is gone.

    It comes from a signal handler, so it can be raised in the middle of a step, too.
    """
    return isinstance(error, RuntimeError) and str(error).startswith("DataLoader worker (pid")


def worker_death(error: RuntimeError) -> RunError:
    """Return one line about the death of a worker that `error` reports."""
    what = str(error).partition(". ")[0]
    return RunError(f"{what}; see above what it printed; fewer workers need less memory, 0 show the cause")


# --8<-- [start:interrupts]
@contextmanager
def interrupts_blocked() -> Iterator[None]:
    """Let processes that start inside the block ignore Ctrl-C for good.

    The terminal sends SIGINT to all processes of a job. Workers that obeyed would be missing while the loop
    finishes its step and saves. A new process inherits the signals that its parent has blocked.
    """
    resource_tracker.ensure_running()  # started with the first worker, it would unblock SIGINT again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


# --8<-- [end:interrupts]
