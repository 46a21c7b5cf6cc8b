"""The training loop of all systems, which differ in their `Task`."""

import copy
import itertools
import math
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import torch
from tqdm import tqdm

from snippets.checkpoints import TrainingState, all_finite, save_checkpoint
from snippets.data_loading import EpochLoader
from snippets.data_on_device import ResidentBatches
from snippets.errors import RunError
from snippets.memory import memory_mb
from snippets.precision import Precision
from snippets.processes import (
    averaged_last,
    draws_of_batch,
    from_first,
    largest,
    mean,
    own_size,
    rank,
    synchronised,
)
from snippets.stop_signals import StopSignals
from snippets.training_step import in_parts, optimizer_step

LOG_EVERY = 10  # steps between lines of metrics.jsonl; reading a loss makes the CPU wait for the GPU
REPORT_EVERY = 5.0  # seconds after which the losses of slow steps are read earlier
SAVE_SHARE = 0.01  # largest share of the time for checkpoints: slow ones are written less often
FIRST_SAVE = 1.0  # seconds until the first one, whose duration is not known yet


# --8<-- [start:task]
@dataclass
class EpochResult:
    """The result of an epoch: values for metrics.jsonl, a score (higher is better), a line to print."""

    values: dict[str, float]
    score: float
    line: str


class TaskOptions(Protocol):
    """The options that all tasks have."""

    @property
    def batch_size(self) -> int:
        """Samples per forward and backward pass."""

    @property
    def compile(self) -> bool:
        """Whether the network is compiled."""


class Task:
    """The part of a training that differs between systems: network, data, loss and evaluation."""

    options: TaskOptions
    state: TrainingState
    network: Callable[..., Any]  # the one in `state`, perhaps compiled
    max_norm: float | None = None  # gradients are clipped to it
    precision: Precision
    facts: dict[str, Any]  # for config.json: "device", "precision", "compile" as text, and the system's own
    steps_per_epoch: int
    samples_per_step: int
    total_steps: int
    source: ResidentBatches | EpochLoader

    def begin_epoch(self, epoch: int) -> None:
        """Prepare an epoch (0, 1, …), for example by mining; by default do nothing.

        A run that resumes within the epoch calls it again. A result that depends on the weights must
        therefore be stored in `state.progress`, which every checkpoint contains, and read from there.
        """

    def check(self, progress: dict[str, Any]) -> None:
        """Raise ValueError when the data that `begin_epoch` stored in `progress` do not fit this task."""

    def batches(self, epoch: int, first: int) -> Iterator[Any]:
        """Yield the batches of an epoch from number `first` on, the same in a resumed run."""
        return self.source.batches(epoch, first)

    def parts(self, batch: Any) -> Iterator[tuple[Any, Any]]:
        """Yield the microbatches of a batch, with their shares of its mean loss."""
        return in_parts(batch, own_size(self.options.batch_size))

    def measures(self, part: Any, network: Callable[..., Any]) -> torch.Tensor:
        """Return the measures (k,) of a microbatch, the mean loss first."""
        raise NotImplementedError

    def evaluate(self, epoch: int, measures: list[float], samples_per_s: float) -> EpochResult:
        """Evaluate the network after `epoch` (1, 2, …); `measures` (k,) are the means over its steps."""
        raise NotImplementedError

    # --8<-- [end:task]
    # --8<-- [start:learn]
    def learn(self, batch: Any) -> torch.Tensor:
        """Take one step and return its measures (k,), the mean loss first.

        They stay on the device, because reading them would make the CPU wait for the GPU in every step.
        """
        total = torch.zeros((), device=self.state.device)
        for part, share in averaged_last(self.network, self.parts(batch)):  # one part without --accumulate
            with draws_of_batch(self.state.device) as drawn:
                measures = share * self.measures(part, drawn(self.network))
            self.state.scaler.scale(measures[0]).backward()
            total = total + measures.detach()
        optimizer_step(self.state, self.max_norm)
        return total

    # --8<-- [end:learn]


def endless_batches(task: Task) -> Iterator[Any]:
    """Yield the batches of all epochs without end, for measurements."""
    for epoch in itertools.count():
        task.begin_epoch(epoch)
        yield from task.batches(epoch, 0)


def new_progress() -> dict[str, Any]:
    """Return the initial content of `TrainingState.progress`."""
    epoch = {"sums": [], "steps": 0}  # of the measures in the present epoch
    return epoch | {"seconds": 0.0, "result": {}, "best_score": -math.inf, "best_epoch": 0}


class Record(Protocol):
    """The output of a run: its folder, or a replacement."""

    last_checkpoint: Path
    best_checkpoint: Path

    def say(self, line: str = "") -> None:
        """Print a line and add it to the log."""

    def log(self, **values: Any) -> None:
        """Store the measures of a step."""

    def beat(self, status: str = "running", **values: Any) -> None:
        """Replace the heartbeat, which monitors read."""


class Training:
    """The training loop of one run."""

    def __init__(self, task: Task, run: Record, config: dict[str, Any], advice: str) -> None:
        """`config` is stored in checkpoints; `advice` ends the error about a loss that is not finite."""
        self.task, self.run, self.config, self.advice = task, run, config, advice
        self.state = task.state
        self.state.progress = self.state.progress or new_progress()
        self.unread: list[torch.Tensor] = []  # measures of steps, still on the device
        self.has_reported = False  # a finite loss: a restored state can be trained on
        self.rate = 0.0
        self.unsaved_best: dict[str, Any] | None = None  # a captured state for the next save
        self.clock = self.reported_at = self.began = time.monotonic()
        self.seconds_saving = 0.0
        self.save_at = self.began + FIRST_SAVE

    # --8<-- [start:training_loop]
    def train(self, stop: StopSignals, bar: tqdm) -> None:
        """Train until the last step or until a stop signal, and save the state."""
        self.task.network = synchronised(self.task.network, self.state.device)
        ended = self.state.step >= self.task.total_steps
        while not ended:
            for batch in self.open_epoch():
                group = self.state.optimizers[0].param_groups[0]
                self.rate = group["lr"]  # of this step: `learn` sets that of the next
                ended = self.after_step(self.task.learn(batch), stop, bar)
                if ended:
                    break

    def after_step(self, measures: torch.Tensor, stop: StopSignals, bar: tqdm) -> bool:
        """Keep the measures (k,) of a step; report and save if due. Return whether the run ends."""
        self.unread.append(measures)
        bar.update()
        step, total = self.state.step, self.task.total_steps
        epoch_done = step % self.task.steps_per_epoch == 0 or step == total
        received, report_is_due = largest(stop.received or 0, self.report_is_due())  # in any process
        if received:
            stop.received = signal.Signals(received)
        last = step == total or received > 0  # a signal that came just now counts in the next step
        if epoch_done or last or report_is_due:
            self.report(epoch_done)
            if last or self.save_is_due():
                self.save()
        return last

    def open_epoch(self) -> Iterator[Any]:
        """Prepare the present epoch and return its remaining batches."""
        epoch, first = divmod(self.state.step, self.task.steps_per_epoch)
        self.task.begin_epoch(epoch)
        self.tick()  # samples_per_s does not count this time
        return self.task.batches(epoch, first)

    # --8<-- [end:training_loop]
    def report_is_due(self) -> bool:
        """Return whether the losses should be read after this step."""
        return self.state.step % LOG_EVERY == 0 or time.monotonic() - self.reported_at > REPORT_EVERY

    def report(self, epoch_done: bool) -> None:
        """Read the measures since the last report, evaluate after an epoch, and write log and heartbeat.

        Raises RunError when a loss is not finite.
        """
        state, samples = self.state, len(self.unread) * self.task.samples_per_step
        loss = self.read_measures()
        speed = round(samples / self.tick(), 1)
        values = self.finish_epoch(speed) if epoch_done else {}
        if epoch_done or state.step % LOG_EVERY == 0:  # at the same steps in a resumed run
            epoch = round(state.step / self.task.steps_per_epoch, 4)
            self.run.log(step=state.step, epoch=epoch, loss=loss, lr=self.rate, samples_per_s=speed, **values)
        self.write_heartbeat(loss, speed)
        self.reported_at, self.has_reported = time.monotonic(), True

    def write_heartbeat(self, loss: float, speed: float) -> None:
        """Write the heartbeat with loss, samples per second, remaining seconds and memory in MB."""
        state = self.state
        eta = round((self.task.total_steps - state.step) * state.progress["seconds"] / state.step, 1)
        memory = round(memory_mb(state.device), 1)
        self.run.beat(step=state.step, loss=loss, samples_per_s=speed, eta_s=eta, memory_mb=memory)

    # --8<-- [start:nan_guard]
    def read_measures(self) -> float:
        """Fetch all unread measures in one transfer, add them to the epoch's sums, and return the last loss.

        Raises RunError, which names the first step whose loss is not finite.
        """
        progress = self.state.progress
        first_step = self.state.step - len(self.unread) + 1
        rows = mean(torch.stack(self.unread)).tolist()
        self.unread.clear()
        for step, measures in enumerate(rows, first_step):
            if not math.isfinite(measures[0]):
                raise self.broken(f"the loss became {measures[0]}", step)
            sums = progress["sums"] or [0.0] * len(measures)
            progress["sums"] = [total + value for total, value in zip(sums, measures, strict=True)]
            progress["steps"] += 1
        return rows[-1][0]

    def broken(self, what: str, step: int) -> RunError:
        """Return the error that names the failed step, the last good checkpoint and the advice."""
        last = self.run.last_checkpoint
        left = f"the last good checkpoint is {last}" if last.exists() else "no checkpoint was written yet"
        return RunError(f"{what} at step {step}; {left}; {self.advice}")

    # --8<-- [end:nan_guard]
    def tick(self) -> float:
        """Return the seconds since the last tick, and add them to the duration of the run."""
        now = time.monotonic()
        passed, self.clock = now - self.clock, now
        self.state.progress["seconds"] += passed
        return passed

    def finish_epoch(self, speed: float) -> dict[str, float]:
        """Evaluate, print a line, capture the best network, reset the sums, and return the results."""
        progress = self.state.progress
        epoch = math.ceil(self.state.step / self.task.steps_per_epoch)
        means = [total / progress["steps"] for total in progress["sums"]]
        own = self.task.evaluate(epoch, means, speed)
        result = from_first(lambda: own)
        self.tick()
        self.run.say(result.line)
        progress |= {"sums": [], "steps": 0, "result": result.values}
        if result.score >= progress["best_score"]:  # of equals the last, which has learned longer
            progress |= {"best_score": result.score, "best_epoch": epoch}
            self.unsaved_best = self.state.capture() if rank() == 0 else None
            if not self.save_is_due():  # the next steps would change it
                self.unsaved_best = copy.deepcopy(self.unsaved_best)
        return result.values

    # --8<-- [start:save]
    def save_is_due(self) -> bool:
        """Return whether another save of the same duration stays within SAVE_SHARE of the time so far."""
        return time.monotonic() >= self.save_at

    def save(self) -> None:
        """Write last.pt, and best.pt if it is a new one. Raises RunError when a weight is not finite."""
        if rank() > 0:
            return
        began = time.monotonic()
        if not all_finite(self.state.model):
            raise self.broken("a weight became NaN or infinite", self.state.step)
        if self.unsaved_best is not None:
            save_checkpoint(self.run.best_checkpoint, self.unsaved_best, self.config)
            self.unsaved_best = None
        save_checkpoint(self.run.last_checkpoint, self.state.capture(), self.config, keep_previous=True)
        took = time.monotonic() - began
        self.seconds_saving += took
        self.save_at = self.began + (self.seconds_saving + took) / SAVE_SHARE

    # --8<-- [end:save]
