"""The loop of every training system here: what differs between the systems is their `Task`."""

import copy
import itertools
import math
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
from snippets.stop_signals import StopSignals
from snippets.training_step import in_parts, optimizer_step

LOG_EVERY = 10  # steps between lines of metrics.jsonl; reading a loss makes the CPU wait for the GPU
LOOK_EVERY = 5.0  # seconds after which slow steps are looked at even so
SAVE_SHARE = 0.01  # of the time may go into checkpoints: the longer one takes to write, the fewer there are
FIRST_SAVE = 1.0  # seconds until the first one, whose duration nobody knows yet


# --8<-- [start:task]
@dataclass
class EpochResult:
    """What an epoch led to: numbers for metrics.jsonl, a score (higher is better), a line for the user."""

    values: dict[str, float]
    score: float
    line: str


class TaskOptions(Protocol):
    """What all tasks ask of their options."""

    @property
    def batch_size(self) -> int:
        """Samples that go through the network at once."""

    @property
    def compile(self) -> bool:
        """Whether the network is compiled."""


class Task:
    """What a training system brings along: its network, its data, how it learns from them."""

    options: TaskOptions
    state: TrainingState
    network: Callable[..., Any]  # the one in `state`, perhaps compiled
    max_norm: float | None = None  # gradients are clipped to it
    precision: Precision
    facts: dict[str, Any]  # for config.json: "device", "precision", "compile" in words, and the system's own
    steps_per_epoch: int
    samples_per_step: int
    total_steps: int
    source: ResidentBatches | EpochLoader

    def begin_epoch(self, epoch: int) -> None:
        """Do what comes before the first batch of an epoch (0, 1, …), such as mining; by default nothing.

        A run that was resumed within the epoch calls it, too: what depends on the weights at that time
        belongs into `state.progress`, which every checkpoint holds, and is taken from there.
        """

    def check(self, progress: dict[str, Any]) -> None:
        """Raise ValueError when what `begin_epoch` keeps in `progress` is none of this training's."""

    def batches(self, epoch: int, first: int) -> Iterator[Any]:
        """Yield the batches of an epoch from number `first` on, the same in a resumed run."""
        return self.source.batches(epoch, first)

    def parts(self, batch: Any) -> Iterator[tuple[Any, Any]]:
        """Yield the parts of a batch that go through the network at once, with their shares of the mean."""
        return in_parts(batch, self.options.batch_size)

    def measures(self, part: Any, network: Callable[..., Any]) -> torch.Tensor:
        """Return what is measured of a part of a batch (k,), the mean loss first."""
        raise NotImplementedError

    def evaluate(self, epoch: int, measures: list[float], samples_per_s: float) -> EpochResult:
        """Measure the network after `epoch` (1, 2, …), of whose steps `measures` (k,) are the means."""
        raise NotImplementedError

    # --8<-- [end:task]
    # --8<-- [start:learn]
    def learn(self, batch: Any) -> torch.Tensor:
        """Take one step and return its measures (k,), the mean loss first.

        They stay on the device: reading them here would make the CPU wait for the GPU in every step.
        """
        total = torch.zeros((), device=self.state.device)
        for part, share in self.parts(batch):  # one part without --accumulate
            measures = share * self.measures(part, self.network)
            self.state.scaler.scale(measures[0]).backward()
            total = total + measures.detach()
        optimizer_step(self.state, self.max_norm)
        return total

    # --8<-- [end:learn]


def endless_batches(task: Task) -> Iterator[Any]:
    """Yield the batches of one epoch after the other, for measurements."""
    for epoch in itertools.count():
        task.begin_epoch(epoch)
        yield from task.batches(epoch, 0)


def new_progress() -> dict[str, Any]:
    """Return what the loop keeps in `TrainingState.progress`, before the first step."""
    epoch = {"sums": [], "steps": 0}  # of the measures, since the epoch began
    return epoch | {"seconds": 0.0, "result": {}, "best_score": -math.inf, "best_epoch": 0}


class Record(Protocol):
    """Where a run is written down: its folder, or a stand-in."""

    last_checkpoint: Path
    best_checkpoint: Path

    def say(self, line: str = "") -> None:
        """Print a line and keep it."""

    def log(self, **values: Any) -> None:
        """Keep the measures of a step."""

    def beat(self, status: str = "running", **values: Any) -> None:
        """Tell whoever watches what the run is doing."""


class Training:
    """A run in progress."""

    def __init__(self, task: Task, run: Record, config: dict[str, Any], advice: str) -> None:
        """`config` goes into the checkpoints; `advice` is given when the loss stops being a number."""
        self.task, self.run, self.config, self.advice = task, run, config, advice
        self.state = task.state
        self.state.progress = self.state.progress or new_progress()
        self.unread: list[torch.Tensor] = []  # measures of steps, still on the device
        self.has_looked = False  # at a loss: what was restored can be trained on
        self.rate = 0.0
        self.unsaved_best: dict[str, Any] | None = None  # captured, to be written with the next checkpoint
        self.clock = self.looked_at = self.began = time.monotonic()
        self.seconds_saving = 0.0
        self.save_at = self.began + FIRST_SAVE

    # --8<-- [start:training_loop]
    def train(self, stop: StopSignals, bar: tqdm) -> None:
        """Train until the last step, or until a signal asks to stop; save what was reached."""
        ended = self.state.step >= self.task.total_steps
        while not ended:
            for batch in self.open_epoch():
                self.rate = self.state.optimizers[0].param_groups[0][
                    "lr"
                ]  # of this step: learning sets the next
                ended = self.after_step(self.task.learn(batch), stop, bar)
                if ended:
                    break

    def after_step(self, measures: torch.Tensor, stop: StopSignals, bar: tqdm) -> bool:
        """Note the measures (k,) of a step; look and save if it is time. Return whether the run ends."""
        self.unread.append(measures)
        bar.update()
        step, total = self.state.step, self.task.total_steps
        epoch_done = step % self.task.steps_per_epoch == 0 or step == total
        last = step == total or stop.received is not None
        if epoch_done or last or self.time_to_look():
            self.look(epoch_done)
            if last or self.save_is_due():
                self.save()
        return last

    def open_epoch(self) -> Iterator[Any]:
        """Return the batches that the present epoch still has, once its own work is done."""
        epoch, first = divmod(self.state.step, self.task.steps_per_epoch)
        self.task.begin_epoch(epoch)
        self.tick()  # this time is no training: samples_per_s leaves it out
        return self.task.batches(epoch, first)

    # --8<-- [end:training_loop]
    def time_to_look(self) -> bool:
        """Return whether the losses should be read after this step."""
        return self.state.step % LOG_EVERY == 0 or time.monotonic() - self.looked_at > LOOK_EVERY

    def look(self, epoch_done: bool) -> None:
        """Read the measures of the steps since the last look, and tell the files and the user."""
        state, samples = self.state, len(self.unread) * self.task.samples_per_step
        loss = self.read_measures()
        speed = round(samples / self.tick(), 1)
        values = self.finish_epoch(speed) if epoch_done else {}
        if epoch_done or state.step % LOG_EVERY == 0:  # at the same steps in a resumed run
            epoch = round(state.step / self.task.steps_per_epoch, 4)
            self.run.log(step=state.step, epoch=epoch, loss=loss, lr=self.rate, samples_per_s=speed, **values)
        eta = round((self.task.total_steps - state.step) * state.progress["seconds"] / state.step, 1)
        memory = round(memory_mb(state.device), 1)
        self.run.beat(step=state.step, loss=loss, samples_per_s=speed, eta_s=eta, memory_mb=memory)
        self.looked_at, self.has_looked = time.monotonic(), True

    # --8<-- [start:nan_guard]
    def read_measures(self) -> float:
        """Fetch all unread measures in one transfer, add them to the epoch's sums, and return the last loss.

        Raises RunError with the step at which the loss stopped being a number.
        """
        progress = self.state.progress
        first_step = self.state.step - len(self.unread) + 1
        rows = torch.stack(self.unread).tolist()
        self.unread.clear()
        for step, measures in enumerate(rows, first_step):
            if not math.isfinite(measures[0]):
                raise self.broken(f"the loss became {measures[0]}", step)
            sums = progress["sums"] or [0.0] * len(measures)
            progress["sums"] = [total + value for total, value in zip(sums, measures, strict=True)]
            progress["steps"] += 1
        return rows[-1][0]

    def broken(self, what: str, step: int) -> RunError:
        """Return the error that says where training broke, what is left of it, and what to try."""
        last = self.run.last_checkpoint
        left = f"the last good checkpoint is {last}" if last.exists() else "no checkpoint was written yet"
        return RunError(f"{what} at step {step}; {left}; {self.advice}")

    # --8<-- [end:nan_guard]
    def tick(self) -> float:
        """Return the seconds since the last tick, and add them to the run's."""
        now = time.monotonic()
        passed, self.clock = now - self.clock, now
        self.state.progress["seconds"] += passed
        return passed

    def finish_epoch(self, speed: float) -> dict[str, float]:
        """Evaluate, print a line, remember the best network, and return the results. The sums begin anew."""
        progress = self.state.progress
        epoch = math.ceil(self.state.step / self.task.steps_per_epoch)
        means = [total / progress["steps"] for total in progress["sums"]]
        result = self.task.evaluate(epoch, means, speed)
        self.tick()
        self.run.say(result.line)
        progress |= {"sums": [], "steps": 0, "result": result.values}
        if result.score > progress["best_score"]:
            progress |= {"best_score": result.score, "best_epoch": epoch}
            self.unsaved_best = self.state.capture()
            if not self.save_is_due():  # training goes on, and would change it
                self.unsaved_best = copy.deepcopy(self.unsaved_best)
        return result.values

    # --8<-- [start:save]
    def save_is_due(self) -> bool:
        """Return whether one more save, as long as the last, stays within SAVE_SHARE of the time so far."""
        return time.monotonic() >= self.save_at

    def save(self) -> None:
        """Write last.pt, and a better best.pt. Raises RunError for weights that are not numbers."""
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
