"""The search for the largest batch size finds exactly the limit, frees what failed, and changes nothing."""

import gc
import subprocess
import sys
import textwrap
import weakref

import pytest
import torch
from torch import nn

from snippets import timing
from snippets.batch_size_search import find_limit, largest_batch_size, samples_per_second
from snippets.checkpoints import TrainingState
from snippets.errors import RunError, UsageError
from snippets.training_step import optimizer_step

CPU = torch.device("cpu")
OUT_OF_MEMORY = {  # as each backend says it
    "CUDA": lambda: _raise(torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")),
    "MPS": lambda: _raise(RuntimeError("MPS backend out of memory (MPS allocated: 8.89 GB")),
    "one MPS buffer": lambda: _raise(RuntimeError("Invalid buffer size: 19.38 GiB")),
    "Python": lambda: _raise(MemoryError()),
    "CPU, really": lambda: torch.empty(1 << 50),
}


def _raise(error):
    raise error


@pytest.fixture(scope="module", autouse=True)
def only_new_objects_are_collected():
    """Spare the garbage collector the objects of PyTorch itself: every failed try makes it look at all."""
    gc.freeze()
    yield
    gc.unfreeze()


def make_state(device=CPU):
    torch.manual_seed(3)
    model = nn.Sequential(nn.Linear(5, 8), nn.BatchNorm1d(8), nn.Dropout(0.3), nn.Linear(8, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 / (1 + step))
    return TrainingState(model, [optimizer], [scheduler], device)


def train_once(state, size):
    state.model(torch.randn(size, 5)).square().mean().backward()
    optimizer_step(state)


def limited_step(state, limit, fail=OUT_OF_MEMORY["MPS"], tried=None):
    """Return a training step that runs out of memory above `limit` samples, after the backward pass."""

    def step(size):
        if tried is not None:
            tried.append(size)
        loss = state.model(torch.randn(size + 1, 5)).square().mean()  # BatchNorm needs two samples
        loss.backward()
        if size > limit:
            fail()
        optimizer_step(state)

    return step


@pytest.mark.parametrize("limit", [1, 2, 7, 8, 9, 100])
def test_the_limit_is_found_exactly(limit):
    state = make_state()
    found = largest_batch_size(limited_step(state, limit), state)
    assert (found.largest, found.too_large) == (limit, limit + 1)
    assert str(found) == f"batch size {limit} runs, {limit + 1} does not"


@pytest.mark.parametrize("backend", OUT_OF_MEMORY)
def test_every_backend_says_it_in_its_own_way(backend):
    state = make_state()
    assert largest_batch_size(limited_step(state, 6, OUT_OF_MEMORY[backend]), state).largest == 6


def test_sizes_are_doubled_then_halved():
    state, tried, told = make_state(), [], []
    largest_batch_size(limited_step(state, 11, tried=tried), state, tell=told.append)
    assert list(dict.fromkeys(tried)) == [1, 2, 4, 8, 16, 12, 10, 11]
    assert [tried.count(size) for size in (8, 16, 11)] == [2, 1, 2]  # two steps per size that runs
    assert told[4:6] == ["batch size 16: out of memory", "batch size 12: out of memory"]
    assert told[-1] == "batch size 11: runs"


def test_only_doubling_stops_at_the_first_failure():
    state = make_state()
    found = largest_batch_size(limited_step(state, 11), state, smallest=3, only_doubling=True)
    assert (found.largest, found.too_large) == (6, 12)


def test_a_search_that_never_failed_says_so():
    state, tried = make_state(), []
    found = largest_batch_size(limited_step(state, 10**9, tried=tried), state, largest=100)
    assert (found.largest, found.too_large) == (100, None)
    assert sorted(set(tried)) == [1, 2, 4, 8, 16, 32, 64, 100]
    assert "this is not the limit" in str(found)


def test_even_the_smallest_can_be_too_large():
    state = make_state()
    with pytest.raises(RunError, match="out of memory even with batch size 4"):
        largest_batch_size(limited_step(state, 3), state, smallest=4)


@pytest.mark.parametrize(("smallest", "largest"), [(0, 8), (9, 8), (-1, 8)])
def test_impossible_ranges_are_refused(smallest, largest):
    state = make_state()
    with pytest.raises(UsageError, match=f"from {smallest} to 8"):
        largest_batch_size(lambda size: None, state, smallest=smallest, largest=largest)


def test_failed_try_frees_its_memory():
    """Also when the step is part of a reference cycle, as a caught error that is kept in a variable."""
    state, held = make_state(), []

    def step(size):
        assert [reference() for reference in held] == [None] * len(held)
        activations = torch.empty(size, 1000)
        if size > 5:
            held.append(weakref.ref(activations))
            try:
                raise ValueError
            except ValueError as error:
                kept = error  # error, traceback, frame and `kept`: a cycle that only the collector frees
                raise RuntimeError(f"MPS backend out of memory {kept}") from error

    assert largest_batch_size(step, state).largest == 5
    assert len(held) == 2  # 8 and 6
    assert held[-1]() is None


def test_gradients_of_a_failed_try_are_dropped():
    state = make_state()
    largest_batch_size(limited_step(state, 6), state)
    assert all(parameter.grad is None for parameter in state.model.parameters())


def test_interrupted_update_leaves_no_partial_optimizer_state():
    state = make_state()
    optimizer = state.optimizers[0]

    def step(size):
        if size > 2:
            first = next(state.model.parameters())
            optimizer.state[first] = {"step": torch.tensor(1.0)}  # as Adam leaves it when exp_avg has no room
            raise MemoryError
        train_once(state, size + 1)

    assert largest_batch_size(step, state).largest == 2
    train_once(state, 4)


def test_search_leaves_training_bit_equal():
    searched, untouched = make_state(), make_state()
    for state in (searched, untouched):
        torch.manual_seed(8)
        for _ in range(3):
            train_once(state, 6)
        if state is searched:
            assert largest_batch_size(limited_step(state, 37), state).largest == 37
        for _ in range(3):
            train_once(state, 6)
    assert searched.step == untouched.step == 6
    assert searched.schedulers[0].get_last_lr() == untouched.schedulers[0].get_last_lr()
    for name, value in untouched.model.state_dict().items():
        assert torch.equal(value, searched.model.state_dict()[name]), name
    saved, expected = (state.optimizers[0].state_dict()["state"] for state in (searched, untouched))
    for index, moments in expected.items():
        for name, value in moments.items():
            assert torch.equal(value, saved[index][name]), name


def test_another_error_is_raised_and_the_state_is_restored():
    state = make_state()
    weights = [parameter.clone() for parameter in state.model.parameters()]

    def step(size):
        train_once(state, size + 1)
        if size == 4:
            raise RuntimeError("mat1 and mat2 shapes cannot be multiplied")

    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
        largest_batch_size(step, state)
    assert state.step == 0
    assert all(map(torch.equal, weights, state.model.parameters()))


@pytest.mark.long
@pytest.mark.program
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux enforces RLIMIT_AS")
def test_memory_that_really_runs_out():
    """In a process that may take 80 MB more than it has, tensors of 2 MB per sample."""
    program = """
        import resource
        import torch
        from snippets.training_step import optimizer_step
        from snippets.batch_size_search import largest_batch_size
        from snippets.checkpoints import TrainingState

        model = torch.nn.Linear(1, 1)
        state = TrainingState(model, [torch.optim.Adam(model.parameters())], [], torch.device("cpu"))

        def step(size):
            inputs = torch.ones(size, 500_000, 1)
            (model(inputs) * 2).exp().mean().backward()
            optimizer_step(state)

        step(1)
        pages = int(open("/proc/self/statm").read().split()[0])
        limit = pages * resource.getpagesize() + 80_000_000
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        found = largest_batch_size(step, state)
        print(found.largest, found.too_large, state.step)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, check=True
    )
    largest, too_large, step = map(int, done.stdout.split())
    assert too_large == largest + 1
    assert 3 <= largest <= 20  # two to ten tensors of 2 MB per sample are alive at the worst moment
    assert step == 1


def test_on_mps_the_limit_is_lowered_before_the_search(monkeypatch):
    calls = []
    gigabytes = {
        "recommended_max_memory": 5e9,
        "current_allocated_memory": 0,
        "driver_allocated_memory": 0,
    }
    for name, value in gigabytes.items():
        monkeypatch.setattr(torch.mps, name, lambda value=value: int(value))
    monkeypatch.setattr(torch.accelerator, "max_memory_allocated", lambda: 0)
    monkeypatch.setattr(torch.mps, "get_rng_state", lambda: torch.zeros(1))
    monkeypatch.setattr(torch.mps, "set_rng_state", lambda state: calls.append("restored"))
    for name in ("synchronize", "empty_cache"):
        monkeypatch.setattr(torch.mps, name, lambda name=name: calls.append(name))
    monkeypatch.setattr(torch.mps, "set_per_process_memory_fraction", calls.append)
    state = make_state(torch.device("mps"))
    assert find_limit(state, limited_step(state, 2), 8).largest == 2
    assert calls[0] == 1.0
    assert calls[1:3] == ["synchronize"] * 2  # sizes 1 and 2; 4 failed before
    assert calls[3:5] == ["restored", "empty_cache"]


def test_on_the_cpu_nothing_is_limited(capsys):
    state = make_state()
    assert find_limit(state, limited_step(state, 2), 8).largest == 2
    assert capsys.readouterr().out.splitlines()[-1] == "batch size 3: out of memory"


def test_speed_counts_samples_and_takes_the_median(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(timing.time, "perf_counter", lambda: clock[0])

    def step(size):
        clock[0] += 1.0 + size / 10  # seconds: a fixed cost per step, and one per sample

    assert samples_per_second(step, [10, 40], CPU) == pytest.approx({10: 5.0, 40: 8.0})
