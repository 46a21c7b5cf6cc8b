"""Say what is wrong with a data set or script before worker processes fail over it."""

import multiprocessing
import os
import pickle
import sys
from io import RawIOBase
from multiprocessing.reduction import ForkingPickler
from types import FunctionType
from typing import Any

import torch
from torch.utils.data import Dataset, default_collate

from snippets.data_on_device import map_tensors
from snippets.framework.errors import UsageError


class Nowhere(RawIOBase):
    """A file that forgets what is written to it."""

    def write(self, data: Any) -> int:
        """Return how many bytes were forgotten."""
        return memoryview(data).nbytes


class SendingProbe(ForkingPickler):
    """Pickles as a new process demands it, but looks at tensors instead of copying them."""

    def reducer_override(self, part: Any) -> Any:
        """Raise UsageError for what pickles and fails in the worker nevertheless."""
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
    """Raise UsageError when `dataset` cannot be sent to worker processes, with what is in the way."""
    try:
        SendingProbe(Nowhere()).dump(dataset)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise UsageError(
            f"the data set cannot be sent to workers ({error}): replace lambdas and inner functions by "
            "functions at the top of a module, open files in the worker, or use 0 workers"
        ) from None
    except RuntimeError:
        pass  # locks and shared values can only be sent while a process starts, which will tell


# --8<-- [start:collate]
def refuse_device_tensor(tensor: torch.Tensor) -> torch.Tensor:
    """Return `tensor`, which a process can send to another. Raises UsageError when it is not on the CPU."""
    if tensor.device.type != "cpu":
        raise UsageError(
            f"a tensor on {tensor.device} cannot pass between processes: keep the data set on the CPU and "
            "move each batch in the training loop, or use 0 workers"
        )
    return tensor


def collate_on_cpu(samples: list[Any]) -> Any:
    """Return one batch of `samples`. Raises UsageError for tensors on a device.

    Without this check the worker fails where nobody listens, and the training loop waits for ever.
    """
    return default_collate(map_tensors(samples, refuse_device_tensor))


# --8<-- [end:collate]
def check_main_guard() -> None:
    """End a worker that runs the whole training script once more, because it has no main guard.

    A spawned worker imports the script. Python's own check asks for the same mark, in the process that would
    start another one; its text has 15 lines.
    """
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        sys.exit('error: put the start of the script under `if __name__ == "__main__":`, workers import it')


def end_without_parent(worker: int) -> None:
    """End this worker if the process that started it has died meanwhile. For `worker_init_fn`.

    PyTorch's workers watch the process that adopted them when they began to work. If the training was killed
    while they still imported, that is another one, and they would wait for work for ever.
    """
    parent = multiprocessing.parent_process()
    if parent is not None and not parent.is_alive():
        os._exit(1)
