"""Load data in worker processes, in an order that a resumed run continues."""

import multiprocessing
import os
import pickle
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import RawIOBase
from multiprocessing import resource_tracker
from multiprocessing.reduction import ForkingPickler
from types import FunctionType
from typing import Any

import torch
from torch.utils.data import DataLoader, Dataset, default_collate

from snippets.data_on_device import map_tensors, to_device
from snippets.data_order import EpochBatches, SeededSamples
from snippets.errors import RunError, UsageError
from snippets.processes import count


class Nowhere(RawIOBase):
    """A file that discards what is written to it."""

    def write(self, data: Any) -> int:
        """Return how many bytes were discarded."""
        return memoryview(data).nbytes


class SendingProbe(ForkingPickler):
    """Pickles as for a new process, but checks tensors instead of copying them."""

    def reducer_override(self, part: Any) -> Any:
        """Raise UsageError for objects that can be pickled but then fail in the worker."""
        if isinstance(part, torch.Tensor):
            refuse_device_tensor(part)
            return int, ()
        typed_in = not hasattr(sys.modules["__main__"], "__file__")  # a notebook, or python -c
        if typed_in and isinstance(part, type | FunctionType) and part.__module__ == "__main__":
            raise UsageError(
                f"workers cannot find {part.__name__!r}: move it from the notebook to a .py file"
            )
        return NotImplemented


def check_can_be_sent(dataset: Dataset) -> None:
    """Raise UsageError, with the reason, when `dataset` cannot be sent to worker processes."""
    try:
        SendingProbe(Nowhere()).dump(dataset)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise UsageError(
            f"the data set cannot be sent to workers ({error}): replace lambdas and inner functions by "
            "functions at the top of a module, open files in the worker, or use 0 workers"
        ) from None
    except RuntimeError:
        pass  # locks and shared values can only be pickled while a process starts, which raises its own error


def refuse_device_tensor(tensor: torch.Tensor) -> torch.Tensor:
    """Return `tensor`. Raises UsageError when it is not on the CPU and so cannot be sent to a worker."""
    if tensor.device.type != "cpu":
        raise UsageError(
            f"a tensor on {tensor.device} cannot pass between processes: keep the data set on the CPU and "
            "move each batch in the training loop, or use 0 workers"
        )
    return tensor


def collate_on_cpu(samples: list[Any]) -> Any:
    """Return one batch of `samples`. Raises UsageError for tensors on a device.

    Without this check the worker fails in a background thread, and the training loop waits for ever.
    """
    return default_collate(map_tensors(samples, refuse_device_tensor))


def check_main_guard() -> None:
    """End this process when it is a worker that runs the training script, which lacks a main guard.

    A spawned worker imports the script. Python's own check reads the same attribute, when the worker would
    start another process, but its message has 15 lines.
    """
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        sys.exit('error: put the start of the script under `if __name__ == "__main__":`, workers import it')


def end_without_parent(worker: int) -> None:
    """End this worker if the process that started it has died meanwhile. For `worker_init_fn`.

    PyTorch's workers watch the process that was their parent when they began to work. If the training was
    killed while they still imported modules, that is another process, and they would wait for ever.
    """
    parent = multiprocessing.parent_process()
    if parent is not None and not parent.is_alive():
        os._exit(1)


WORKERS_PER_CORE = 4  # more only compete for cores, and each loads its own PyTorch into memory


def loader_options(workers: int, device: torch.device, prefetch: int = 2) -> dict[str, Any]:
    """Return arguments with which a `DataLoader` feeds `device` from `workers` processes.

    Each worker prepares `prefetch` batches ahead. Raises UsageError when a number is out of range.
    """
    cores = os.cpu_count() or 1
    if not 0 <= workers <= WORKERS_PER_CORE * cores:
        raise UsageError(
            f"{workers} workers: choose 0 to {WORKERS_PER_CORE * cores}, this machine has {cores} cores"
        )
    if not 1 <= prefetch <= 1000:
        raise UsageError(f"prefetch {prefetch}: choose 1 to 1000 batches per worker")
    options = {"num_workers": workers, "pin_memory": device.type == "cuda"}  # on MPS it only causes a warning
    if workers:  # without workers each of these raises an error
        options |= {
            "multiprocessing_context": "spawn",  # the default on macOS, and the strictest method
            "persistent_workers": True,  # otherwise they are started again in each epoch
            "prefetch_factor": prefetch,
        }
    return options


class EpochLoader:
    """The batches of a data set, on a device: equal for any number of workers, and in a resumed run."""

    def __init__(
        self,
        dataset: Dataset,
        batch_size: int,
        seed: int,
        *,
        workers: int,
        device: torch.device,
        parts: int = 1,
    ) -> None:
        """Check the data set and the options before a worker starts. Raises UsageError.

        Several processes share each of the `parts` of a batch.
        """
        options = loader_options(workers, device)
        if workers:
            check_main_guard()
            check_can_be_sent(dataset)
            options |= {"collate_fn": collate_on_cpu, "worker_init_fn": end_without_parent}
        self.device = device
        self.order = EpochBatches(len(dataset), batch_size, seed, parts)
        # Without its own generator, the loader draws a number from the global one for each iterator.
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


def is_worker_death(error: BaseException) -> bool:
    """Return whether `error` is PyTorch's error about a dead worker process.

    A signal handler raises it, so it can also occur in the middle of a step.
    """
    return isinstance(error, RuntimeError) and str(error).startswith("DataLoader worker (pid")


def worker_death(error: BaseException) -> RunError:
    """Return a one-line RunError for the death of a worker that `error` reports."""
    what = str(error).partition(". ")[0]
    return RunError(f"{what}; see above what it printed; fewer workers need less memory, 0 show the cause")


@contextmanager
def interrupts_blocked() -> Iterator[None]:
    """Start processes inside the block so that they ignore Ctrl-C permanently.

    The terminal sends SIGINT to all processes of a job, but workers are still needed while the loop finishes
    its step and saves. So does torchrun with SIGTERM. A new process inherits what its parent has blocked.
    """
    resource_tracker.ensure_running()  # otherwise the first worker starts it, which unblocks SIGINT
    blocked = {signal.SIGINT} | ({signal.SIGTERM} if count() > 1 else set())
    before = signal.pthread_sigmask(signal.SIG_BLOCK, blocked)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
