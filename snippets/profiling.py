"""Measure where the time of a training step goes: by part, by call, and on the GPU."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import torch
from torch import nn
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook
from torch.profiler import DeviceType, ProfilerActivity, profile, schedule

from snippets.device import synchronize
from snippets.errors import UsageError


# --8<-- [start:parts]
class PartTimer:
    """Adds up the seconds of the parts of training steps. It waits for the device before and after each."""

    def __init__(self, device: torch.device) -> None:
        self.device = device
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self.running: list[tuple[str, float]] = []  # parts that have begun, the innermost last

    def begin(self, part: str) -> None:
        """Wait for the device, then start the clock of a part."""
        synchronize(self.device)
        self.running.append((part, time.perf_counter()))

    def end(self) -> None:
        """Wait for the device, then stop the clock that was started last."""
        synchronize(self.device)
        part, began = self.running.pop()
        if part not in dict(self.running):  # a step that calls the step of its parent class counts once
            self.seconds[part] += time.perf_counter() - began

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Time the block as the part `name`."""
        self.begin(name)
        yield
        self.end()

    @contextmanager
    def inside(self, model: nn.Module) -> Iterator[None]:
        """Time forward passes of `model` and steps of all optimizers with hooks, without changing code."""
        hooks = [
            model.register_forward_pre_hook(lambda *_: self.begin("forward")),
            model.register_forward_hook(lambda *_: self.end()),
            register_optimizer_step_pre_hook(lambda *_: self.begin("optimizer")),
            register_optimizer_step_post_hook(lambda *_: self.end()),
        ]
        try:
            yield
        finally:
            for hook in hooks:
                hook.remove()


# --8<-- [end:parts]
# --8<-- [start:time_parts]
def time_parts(
    batches: Iterator[object],
    learn: Callable[[object], object],
    model: nn.Module,
    device: torch.device,
    steps: int,
) -> dict[str, float]:
    """Return the seconds per step for data, forward, optimizer, and the rest, most of which is backward.

    Warm up before: the first steps compile kernels.
    """
    timer = PartTimer(device)
    with timer.inside(model):
        for _ in range(steps):
            with timer.part("data"):
                batch = next(batches)
            with timer.part("learn"):
                learn(batch)
    seconds = timer.seconds
    rest = seconds.pop("learn") - seconds["forward"] - seconds["optimizer"]
    parts = {name: seconds[name] for name in ("data", "forward")} | {"backward and rest": rest}
    parts["optimizer"] = seconds["optimizer"]
    return {name: value / steps for name, value in parts.items()}


# --8<-- [end:time_parts]
# --8<-- [start:time_undisturbed]
def time_undisturbed(step: Callable[[], object], device: torch.device, steps: int) -> tuple[float, float]:
    """Return two times per step (s): until the calls return, and until the device finishes.

    The CPU does not wait between steps, so it can prepare one step while the GPU computes another.
    """
    synchronize(device)
    began = time.perf_counter()
    for _ in range(steps):
        step()
    returned = time.perf_counter()
    synchronize(device)
    finished = time.perf_counter()
    return (returned - began) / steps, (finished - began) / steps


# --8<-- [end:time_undisturbed]
# --8<-- [start:record_calls]
class CallTime(NamedTuple):
    """The time of all calls of one name in the recorded steps, without the calls inside them."""

    name: str
    milliseconds: float
    calls: int


def record_calls(
    step: Callable[[], object], device: torch.device, trace: Path, warm_up: int = 3, steps: int = 5
) -> list[CallTime]:
    """Run `step` under torch.profiler; return the times of its calls, and write a Chrome trace to `trace`.

    The longest come first. They are CPU times, on CUDA GPU times; `ProfilerStep*` is the time outside of all
    calls, in Python. The first `warm_up` steps are not recorded.
    """
    on_cuda = device.type == "cuda"
    activities = [ProfilerActivity.CPU, ProfilerActivity.CUDA] if on_cuda else [ProfilerActivity.CPU]
    plan = schedule(wait=1, warmup=warm_up - 1, active=steps, repeat=1)
    calls: list[CallTime] = []

    def finish(profiler: profile) -> None:
        for call in profiler.key_averages():
            if call.device_type == DeviceType.CPU:  # the time of a kernel is also in the call that started it
                microseconds = call.self_device_time_total if on_cuda else call.self_cpu_time_total
                calls.append(CallTime(call.key, microseconds / 1e3, call.count))
        profiler.export_chrome_trace(str(trace))

    with profile(activities=activities, schedule=plan, on_trace_ready=finish, acc_events=True) as profiler:
        for _ in range(warm_up + steps):
            step()
            synchronize(device)
            profiler.step()
    return sorted(calls, key=lambda call: call.milliseconds, reverse=True)


# --8<-- [end:record_calls]
# --8<-- [start:events]
def milliseconds_on_gpu(work: Callable[[], object]) -> float:
    """Return the milliseconds from the end of earlier work on the MPS device to the end of `work`.

    `elapsed_time` waits for both events. Before PyTorch 2.15, calling `end.synchronize()` first could hang.
    """
    start, end = torch.mps.Event(enable_timing=True), torch.mps.Event(enable_timing=True)
    start.record()
    work()
    end.record()
    return start.elapsed_time(end)


# --8<-- [end:events]
# --8<-- [start:signposts]
def with_signposts(step: Callable[[], object], steps: int, one_by_one: bool = False) -> None:
    """Run `step` so that Instruments shows each operation, copy and CPU fallback on MPS as an interval.

    With `one_by_one` the CPU waits for each operation, so they do not overlap and take longer.
    """
    with torch.mps.profiler.profile(mode="interval", wait_until_completed=one_by_one):
        for _ in range(steps):
            step()


# --8<-- [end:signposts]
# --8<-- [start:metal_capture]
def capture_metal(step: Callable[[], object], name: str) -> None:
    """Write all Metal calls of one `step` to 0000-`name`.gputrace in the current folder, for Xcode.

    Raises UsageError where Metal does not allow it: MTL_CAPTURE_ENABLED=1 must be set when the program
    starts. Needs PyTorch 2.7.
    """
    if not torch.mps.profiler.is_metal_capture_enabled():
        raise UsageError("Metal allows no capture here; on a Mac, start with MTL_CAPTURE_ENABLED=1")
    with torch.mps.profiler.metal_capture(name):
        step()


# --8<-- [end:metal_capture]
