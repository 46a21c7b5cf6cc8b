"""Profiling: time lands on the part that took it, the trace shows what ran, MPS is asked as it should be."""

import contextlib
import json
import time
from itertools import repeat
from types import SimpleNamespace

import pytest
import torch
from torch import nn

from snippets import profiling
from snippets.errors import UsageError
from snippets.profiling import (
    capture_metal,
    milliseconds_on_gpu,
    record_calls,
    time_parts,
    time_undisturbed,
    with_signposts,
)

CPU = torch.device("cpu")


SECONDS = {"data": 1.0, "forward": 2.0, "backward and rest": 4.0, "optimizer": 8.0}


class SlowModel(nn.Module):
    """A model whose forward and backward pass last a known time on the clock of `device`."""

    def __init__(self, device):
        super().__init__()
        self.weight, self.device = nn.Parameter(torch.ones(1)), device

    def forward(self, x):
        self.device.pass_by(SECONDS["forward"])
        result = self.weight * x
        result.register_hook(lambda _: self.device.pass_by(SECONDS["backward and rest"]))
        return result


def slow_batches(device):
    while True:
        device.pass_by(SECONDS["data"])
        yield torch.ones(1)


class SlowSGD(torch.optim.SGD):
    """SGD that needs a while, and calls its parent's step: both run PyTorch's hooks."""

    def __init__(self, parameters, device):
        super().__init__(parameters, lr=0.0)
        self.device = device

    def step(self, closure=None):
        self.device.pass_by(SECONDS["optimizer"])
        return super().step(closure)


def test_time_lands_on_the_part_that_took_it(monkeypatch):
    device = SlowDevice(monkeypatch)
    model = SlowModel(device)
    optimizer = SlowSGD(model.parameters(), device)

    def learn(batch):
        model(batch).sum().backward()
        optimizer.step()

    parts = time_parts(slow_batches(device), learn, model, device, steps=3)
    assert parts == SECONDS
    assert list(parts) == list(SECONDS)


def test_hooks_leave_no_trace():
    from torch.optim import optimizer as hooks

    model = nn.Linear(2, 1)
    before = len(hooks._global_optimizer_pre_hooks), len(hooks._global_optimizer_post_hooks)
    with contextlib.suppress(StopIteration):  # one batch, two steps
        time_parts(iter([torch.ones(2)]), model, model, CPU, steps=2)
    after = len(hooks._global_optimizer_pre_hooks), len(hooks._global_optimizer_post_hooks)
    assert (after, len(model._forward_hooks), len(model._forward_pre_hooks)) == (before, 0, 0)


def test_each_clock_reading_follows_a_wait(monkeypatch):
    """On a device that works for itself, the clock may be read only when it has finished."""
    device = SlowDevice(monkeypatch)
    model = nn.Identity()
    model.register_forward_hook(lambda *_: device.start(5.0))
    parts = time_parts(repeat(torch.ones(1)), model, model, device, steps=2)
    assert parts == {"data": 0.0, "forward": 5.0, "backward and rest": 0.0, "optimizer": 0.0}


def test_undisturbed_steps_overlap(monkeypatch):
    device = SlowDevice(monkeypatch)

    def step():
        device.clock += 1.0  # the CPU's share
        device.start(3.0)

    assert time_undisturbed(step, device, steps=4) == (1.0, (4 * 3.0 + 1.0) / 4)


class SlowDevice:
    """A device that works on its own after each call, and a clock that only it and the tests move."""

    type = "slow"

    def __init__(self, monkeypatch):
        self.clock = self.busy_until = 0.0
        monkeypatch.setattr(profiling, "time", SimpleNamespace(perf_counter=lambda: self.clock))
        monkeypatch.setattr(profiling, "synchronize", lambda device: device.wait())

    def pass_by(self, seconds):
        self.clock += seconds

    def start(self, seconds):
        self.busy_until = max(self.clock, self.busy_until) + seconds

    def wait(self):
        self.clock = max(self.clock, self.busy_until)


def test_time_outside_of_calls_is_that_of_python(tmp_path):
    longest = record_calls(lambda: time.sleep(0.01), CPU, tmp_path / "trace.json", steps=3)[0]
    assert (longest.name, longest.calls) == ("ProfilerStep*", 3)
    assert longest.milliseconds >= 30


def test_the_trace_holds_the_recorded_steps_alone(tmp_path):
    calls = []

    def step():
        calls.append(torch.ones(8, 8) @ torch.ones(8, 8))

    times = record_calls(step, CPU, tmp_path / "trace.json", warm_up=3, steps=5)
    assert len(calls) == 8
    assert [call.calls for call in times if call.name == "aten::mm"] == [5]
    assert times == sorted(times, key=lambda call: -call.milliseconds)
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    assert sum(event.get("name") == "aten::mm" for event in events) == 5


@pytest.fixture
def mps(monkeypatch):
    """Replace what only a Mac has in torch.mps, and note how it is called."""
    noted = []

    class Event:
        def __init__(self, enable_timing=False):
            assert enable_timing

        def record(self):
            noted.append("record")

        def elapsed_time(self, end):
            assert end is not self
            return 2.5

    @contextlib.contextmanager
    def noting(*arguments, **named):
        noted.append((arguments, named))
        yield
        noted.append("end")

    monkeypatch.setattr(torch.mps, "Event", Event)
    monkeypatch.setattr(torch.mps.profiler, "profile", noting)
    monkeypatch.setattr(torch.mps.profiler, "metal_capture", noting)
    monkeypatch.setattr(torch.mps.profiler, "is_metal_capture_enabled", lambda: True)
    return noted


def test_events_enclose_the_work(mps):
    assert milliseconds_on_gpu(lambda: mps.append("work")) == 2.5
    assert mps == ["record", "work", "record"]


@pytest.mark.parametrize("one_by_one", [False, True])
def test_signposts_are_on_during_all_steps(mps, one_by_one):
    with_signposts(lambda: mps.append("step"), steps=2, one_by_one=one_by_one)
    options = {"mode": "interval", "wait_until_completed": one_by_one}
    assert mps == [((), options), "step", "step", "end"]


def test_a_capture_holds_one_step(mps):
    capture_metal(lambda: mps.append("step"), "forward")
    assert mps == [(("forward",), {}), "step", "end"]


def test_no_capture_without_permission(monkeypatch):
    monkeypatch.setattr(torch.mps.profiler, "is_metal_capture_enabled", lambda: False)
    with pytest.raises(UsageError, match="MTL_CAPTURE_ENABLED=1"):
        capture_metal(lambda: pytest.fail("captured"), "forward")
