"""Loaders with real spawned workers give the same batches as without, in any order of events."""

import contextlib
import multiprocessing
import os
import runpy
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch.utils.data import DataLoader, Dataset

from snippets.data_loading import (
    WORKERS_PER_CORE,
    EpochLoader,
    interrupts_blocked,
    is_worker_death,
    loader_options,
    worker_death,
)
from snippets.data_order import epoch_order
from snippets.errors import RunError, UsageError

ROOT = Path(__file__).resolve().parents[2]
CPU = torch.device("cpu")
COUNT, BATCH_SIZE, SEED = 22, 4, 7  # five batches, two samples left over
# The order of the 40 samples of `Awkward`, and the two that misbehave, far apart: no worker prepares one of
# them while another sample is asked for.
ORDER = epoch_order(40, SEED, 0).tolist()
REFUSED, DEADLY = ORDER[10], ORDER[30]


class Augmented(Dataset):
    """Random samples made from one tensor that all processes share."""

    def __init__(self):
        self.images = torch.arange(COUNT * 3.0).view(COUNT, 3)

    def __len__(self):
        return COUNT

    def __getitem__(self, index):
        return {"image": self.images[index] + torch.rand(3), "index": index, "process": os.getpid()}


class Awkward(Dataset):
    """Samples that say whether their process ignores Ctrl-C, one that none can send, and one that ends it."""

    def __len__(self):
        return len(ORDER)

    def __getitem__(self, index):
        if index == DEADLY:
            os._exit(3)
        if index == REFUSED:
            return torch.ones(1, device="meta")
        return torch.tensor([signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, [])])


def images(batches):
    return torch.cat([batch["image"] for batch in batches])


@pytest.fixture(scope="module")
def expected():
    """Return the batches of two epochs without workers."""
    loader = EpochLoader(Augmented(), BATCH_SIZE, SEED, workers=0, device=CPU)
    return [list(loader.batches(epoch)) for epoch in range(2)]


def test_no_workers(expected):
    for epoch, batches in enumerate(expected):
        indices = [batch["index"].tolist() for batch in batches]
        assert [index for batch in indices for index in batch] == epoch_order(COUNT, SEED, epoch).tolist()[
            : 5 * BATCH_SIZE
        ]
    assert not torch.equal(images(expected[0]).sort(0).values, images(expected[1]).sort(0).values)


@pytest.mark.program
@pytest.mark.parametrize("workers", [0, 1])
def test_workers_change_nothing_in_whole_cut_and_resumed_epochs(workers, expected):
    torch.manual_seed(1)
    before = torch.get_rng_state()
    loader = EpochLoader(Augmented(), BATCH_SIZE, SEED, workers=workers, device=CPU)
    first = list(loader.batches(0))
    second = list(loader.batches(1, 2))
    dropped = loader.batches(0)
    next(dropped)
    dropped.close()  # with batches that the worker has prepared already
    after_drop = list(loader.batches(0, 3))

    assert torch.equal(images(first), images(expected[0]))
    assert torch.equal(images(second), images(expected[1][2:]))
    assert torch.equal(images(after_drop), images(expected[0][3:]))
    assert torch.equal(torch.get_rng_state(), before), "the training loop's random numbers are untouched"
    processes = {int(number) for batch in first + second + after_drop for number in batch["process"]}
    assert len(processes) == 1, "workers live through all epochs"
    assert (os.getpid() in processes) == (workers == 0)
    assert loader.loader.dataset.dataset.images.is_shared() == (workers > 0)


@pytest.mark.long
def test_two_workers_change_nothing(expected):
    loader = EpochLoader(Augmented(), BATCH_SIZE, SEED, workers=2, device=CPU)
    first, second = list(loader.batches(0)), list(loader.batches(1, 2))
    assert torch.equal(images(first), images(expected[0]))
    assert torch.equal(images(second), images(expected[1][2:]))
    assert len({int(number) for batch in first for number in batch["process"]}) == 2


@pytest.mark.long
@pytest.mark.program
def test_the_first_worker_of_a_process_ignores_ctrl_c():
    """Python's resource tracker starts with it, and unblocks the signal."""
    code = (
        "from tests.snippets.test_data_loading import *\n"
        "print(next(EpochLoader(Awkward(), 1, SEED, workers=1, device=CPU).batches(0)).item())"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stdout == "True\n", done.stderr


@pytest.mark.program
def test_worker_ignores_ctrl_c_and_failures_are_short():
    loader = EpochLoader(Awkward(), 1, SEED, workers=1, device=CPU)
    assert next(loader.batches(0)).item() is True
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])

    with pytest.raises(UsageError) as refused:
        next(loader.batches(0, ORDER.index(REFUSED)))
    assert str(refused.value).startswith("a tensor on meta cannot pass between processes")
    with pytest.raises(RunError, match=r"^DataLoader worker \(pid.*0 show the cause"):
        next(loader.batches(0, ORDER.index(DEADLY)))


def test_other_errors_of_a_data_set_keep_their_traceback():
    class Broken(Augmented):
        def __getitem__(self, index):
            raise RuntimeError("a broken file")

    with pytest.raises(RuntimeError, match=r"^a broken file$"):
        next(EpochLoader(Broken(), BATCH_SIZE, SEED, workers=0, device=CPU).batches(0))


@pytest.mark.program
def test_a_script_without_main_guard_fails(capfd):
    with pytest.raises(RuntimeError, match="exited unexpectedly"):
        runpy.run_path(str(ROOT / "snippets" / "no_main_guard.py"), run_name="__main__")
    shown = capfd.readouterr()
    assert "before the\n        current process has finished its bootstrapping phase" in shown.err
    assert shown.out == ""


@pytest.mark.program
def test_a_script_with_main_guard_works(capfd):
    runpy.run_path(str(ROOT / "snippets" / "main_guard.py"), run_name="__main__")
    assert capfd.readouterr().out == "tensor([0, 1, 2, 3])\ntensor([4, 5, 6, 7])\n"


def test_options_without_workers_pin_for_cuda_only():
    for device, pins in {"cpu": False, "mps": False, "cuda": True}.items():
        options = loader_options(0, torch.device(device))
        assert options == {"num_workers": 0, "pin_memory": pins}
        DataLoader([1.0], **options)  # raises ValueError for a combination that does not go together


def test_options_with_workers_are_legal_and_spawn():
    options = loader_options(2, CPU, prefetch=3)
    loader = DataLoader([1.0], **options)
    assert (loader.num_workers, loader.prefetch_factor, loader.persistent_workers) == (2, 3, True)
    assert loader.multiprocessing_context is multiprocessing.get_context("spawn")


@pytest.mark.parametrize(
    "options", [{"persistent_workers": True}, {"prefetch_factor": 2}, {"multiprocessing_context": "spawn"}]
)
def test_pytorch_refuses_without_workers_what_the_options_leave_out(options):
    with pytest.raises(ValueError, match="num_workers"):
        DataLoader([1.0], num_workers=0, **options)


@pytest.mark.parametrize("workers", [-1, WORKERS_PER_CORE * (os.cpu_count() or 1) + 1, 10**9])
def test_absurd_numbers_of_workers(workers):
    with pytest.raises(UsageError, match=f"^{workers} workers: choose 0 to"):
        loader_options(workers, CPU)


@pytest.mark.parametrize("prefetch", [0, -1, 1001])
def test_absurd_prefetching(prefetch):
    with pytest.raises(UsageError, match=f"^prefetch {prefetch}: choose 1 to 1000"):
        loader_options(1, CPU, prefetch)


def test_signals_are_as_before_even_after_an_error():
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [])
    with contextlib.suppress(ZeroDivisionError), interrupts_blocked():
        assert signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, [])
        raise ZeroDivisionError
    assert signal.pthread_sigmask(signal.SIG_BLOCK, []) == before


def test_other_errors_are_no_death_of_a_worker():
    assert not is_worker_death(RuntimeError("CUDA error"))
    assert not is_worker_death(ValueError("DataLoader worker (pid 1)"))


def test_a_killed_worker_gets_one_line():
    killed = RuntimeError("DataLoader worker (pid 12) is killed by signal: Killed. Details are lost.")
    assert is_worker_death(killed)
    assert str(worker_death(killed)).startswith("DataLoader worker (pid 12) is killed by signal: Killed; see")
