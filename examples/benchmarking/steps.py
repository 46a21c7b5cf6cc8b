"""Run and time the training steps of a task. A step loads a batch and learns from it."""

import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import torch

from snippets.device import synchronize
from snippets.memory import read_memory
from snippets.training_loop import Task, endless_batches

SHORT = 0.010  # seconds; for shorter steps, waiting after each would distort the time
GROUP = 10  # short steps per clock reading, as many as the training loop runs between losses


@dataclass(frozen=True)
class Plan:
    """The number of warm-up steps, and the number of clock readings after them."""

    warm_up: int = 10
    readings: int = 30

    @property
    def compared_steps(self) -> int:
        """The number of steps that every level runs and whose losses are compared."""
        return self.warm_up + self.readings

    @property
    def most_steps(self) -> int:
        """The number of steps of a level whose steps are short."""
        return self.warm_up + self.readings * GROUP


@dataclass
class Steps:
    """The steps of a task, over as many epochs as needed."""

    task: Task
    batches: Iterator[Any]
    losses: list[torch.Tensor] = field(default_factory=list)  # on the device
    data_seconds: float = 0.0  # spent waiting for batches; a GPU may be busy in the meantime
    keep: int = 0  # number of losses to keep

    def take(self) -> None:
        """Run one step, without waiting for the device."""
        start = time.perf_counter()
        batch = next(self.batches)
        self.data_seconds += time.perf_counter() - start
        measures = self.task.learn(batch)
        if len(self.losses) < self.keep:
            self.losses.append(measures[0].detach().float())

    def timed(self, count: int) -> float:
        """Run `count` steps, wait for the device and return the seconds. The device must be idle."""
        start = time.perf_counter()
        for _ in range(count):
            self.take()
        synchronize(self.task.state.device)
        return time.perf_counter() - start


def time_steps(task: Task, plan: Plan) -> dict[str, Any]:
    """Train `task` by `plan`; return the seconds per step of each reading, the losses, and memory in MB.

    The first `plan.compared_steps` losses are equal at every level, except for rounding and the random
    numbers of the device.
    """
    steps = Steps(task, endless_batches(task), keep=plan.compared_steps)
    synchronize(task.state.device)
    warm_up = [steps.timed(1) for _ in range(plan.warm_up)]
    group = GROUP if warm_up[-1] < SHORT else 1
    steps.data_seconds = 0.0
    seconds = [steps.timed(group) / group for _ in range(plan.readings)]
    return {
        "seconds": seconds,
        "steps_per_reading": group,
        "first_step_s": warm_up[0],
        "data_share": steps.data_seconds / (group * sum(seconds)),
        "samples_per_step": task.samples_per_step,
        "samples_per_s": task.samples_per_step / statistics.median(seconds),
        **memory_of(task.state.device),
        "losses": torch.stack(steps.losses).tolist(),
    }


def memory_of(device: torch.device) -> dict[str, float | None]:
    """Return the memory of this process on `device`, and the peak of its tensors, in MB (10⁶ bytes).

    On the CPU both are the peak resident memory of the process, including libraries.
    """
    reading = read_memory(device)
    held, peak = (None if size is None else round(size / 1e6, 1) for size in (reading.held, reading.peak))
    return {"memory_mb": peak if held is None else held, "peak_mb": peak}
