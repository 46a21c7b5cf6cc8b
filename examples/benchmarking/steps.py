"""Run and time the training steps of a task. A step: take a batch, learn from it."""

import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import torch

from snippets.device import synchronize
from snippets.memory import read_memory
from snippets.training_loop import Task, endless_batches

SHORT = 0.010  # seconds; waiting after every step would be a noticeable part of a shorter one
GROUP = 10  # short steps per reading of the clock: as often as the training loop reads the loss


@dataclass(frozen=True)
class Plan:
    """How many steps do not count, and how often the clock is read after them."""

    warm_up: int = 10
    readings: int = 30

    @property
    def compared_steps(self) -> int:
        """Steps that every level takes, whatever its speed; their losses are compared."""
        return self.warm_up + self.readings

    @property
    def most_steps(self) -> int:
        """Steps of a level whose steps are short."""
        return self.warm_up + self.readings * GROUP


@dataclass
class Steps:
    """The steps of a task, through as many epochs as it takes."""

    task: Task
    batches: Iterator[Any]
    losses: list[torch.Tensor] = field(default_factory=list)  # on the device
    data_seconds: float = 0.0  # until the program had its batch; a GPU may be busy in the meantime
    keep: int = 0  # number of losses to keep

    def take(self) -> None:
        """Take one step. The device may still be busy with it afterwards."""
        start = time.perf_counter()
        batch = next(self.batches)
        self.data_seconds += time.perf_counter() - start
        measures = self.task.learn(batch)
        if len(self.losses) < self.keep:
            self.losses.append(measures[0].detach().float())

    def timed(self, count: int) -> float:
        """Take `count` steps, wait for the device and return the seconds. The device must be idle."""
        start = time.perf_counter()
        for _ in range(count):
            self.take()
        synchronize(self.task.state.device)
        return time.perf_counter() - start


def time_steps(task: Task, plan: Plan) -> dict[str, Any]:
    """Train `task` as `plan` says; return seconds per step of each reading, losses and memory.

    The first `plan.compared_steps` losses are the same numbers at every level, up to rounding and what a
    device's own random generator draws.
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
    """Return what this process holds on `device`, and the most that tensors took at once, in MB (10⁶ bytes).

    On the CPU both are the highest resident memory of the process, which counts libraries, too.
    """
    reading = read_memory(device)
    held, peak = (None if size is None else round(size / 1e6, 1) for size in (reading.held, reading.peak))
    return {"memory_mb": peak if held is None else held, "peak_mb": peak}
