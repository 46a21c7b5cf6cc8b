"""Processes that a program starts: how they begin, what they may send, and how their counts come back."""

import atexit
import contextlib
import json
import multiprocessing
import os
import shutil
import tempfile
import threading
from collections.abc import Callable
from multiprocessing.reduction import ForkingPickler
from pathlib import Path

DEVICE = "SIMULATED_MPS"  # what simulated_mps_autoload reads: 1, or a release
COUNTS = "SIMULATED_MPS_COUNTS"  # the folder in which a process leaves its counts for the one that started it
MACOS = "SIMULATED_MPS_MACOS"  # the macOS that it pretends, such as 14 or 15.1; without it the newest
LIKE_MACOS = "SIMULATED_MPS_LIKE_MACOS"  # 1: worker processes begin as on macOS

FAILS_TO_RECEIVE = (
    "simulated_mps: a worker process sent a tensor on the device mps, which processes cannot share; return "
    "CPU tensors from the data set and collate_fn, and move the batch where it is used"
)

left_by_children: Path | None = None  # the folder of this process


def give_children_the_device(as_torch: str | None) -> None:
    """Let processes that this one starts have the same device."""
    os.environ[DEVICE] = as_torch or "1"


def start_workers_as_asked() -> None:
    """Where LIKE_MACOS asks for it, start workers anew instead of copying this process.

    On Linux a worker may be a copy that knows every object. On macOS objects are pickled for it, which fails
    for lambdas and local classes.
    """
    if os.environ.get(LIKE_MACOS) == "1":
        multiprocessing.set_start_method("spawn", force=True)


def refuse_tensors_of_workers() -> None:
    """Let a tensor on the device that a process puts into a queue fail where it is taken out.

    A queue pickles in a thread of its own. There PyTorch's error is printed and the tensor dropped, so that a
    DataLoader waits for its batch without end.
    """
    import torch
    from torch.multiprocessing import reductions

    def reduce_storage(storage: torch.UntypedStorage) -> tuple[Callable, tuple]:
        in_queue = threading.current_thread().name == "QueueFeederThread"
        if storage.device.type == "mps" and in_queue:
            return fail_to_receive, ()
        return reductions.reduce_storage(storage)

    ForkingPickler.register(torch.UntypedStorage, reduce_storage)


def fail_to_receive() -> None:
    """Raise where the tensor would arrive."""
    raise RuntimeError(FAILS_TO_RECEIVE)


def collect_counts() -> None:
    """Make a folder for the counts of children; at our end, leave all counts to who started us."""
    global left_by_children
    parent = os.environ.get(COUNTS)
    left_by_children = Path(tempfile.mkdtemp(prefix="simulated_mps-"))
    os.environ[COUNTS] = str(left_by_children)
    atexit.register(hand_over, os.getpid(), parent)


def hand_over(process: int, parent: str | None) -> None:
    """Leave in the folder `parent` what `process` and its children did, and remove our own folder."""
    from simulated_mps.reports import report, to_json

    if os.getpid() != process or left_by_children is None:
        return  # a copy made by os.fork, whose counts begin with ours
    if parent:
        part, whole = Path(parent) / f"{process}.part", Path(parent) / f"{process}.json"
        with contextlib.suppress(FileNotFoundError):  # a parent that ended before us has removed its folder
            part.write_text(json.dumps(to_json(report())), encoding="utf-8")
            part.replace(whole)
    shutil.rmtree(left_by_children, ignore_errors=True)


def left_by_ended_children() -> list[dict]:
    """Return what each left: a report, as reports.to_json makes it."""
    files = left_by_children.glob("*.json") if left_by_children else ()
    return [json.loads(path.read_text(encoding="utf-8")) for path in files]
