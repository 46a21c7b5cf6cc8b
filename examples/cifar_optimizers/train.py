"""Train a ResNet-18 on small images with one of six optimizers.

With no option: 1,442 handwritten digits at 16×16, width 8, SGD, 10 epochs; about 99 % of 355 held-out digits
right after a few seconds on two CPU cores. The published set-up: `--data cifar10 --download`.
"""

import math
import shlex
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

try:
    import torch
    from torch.nn import functional as F
    from tqdm import tqdm

    from examples.cifar_optimizers.augmentation import network_input
    from examples.cifar_optimizers.image_data import ImageData
    from examples.cifar_optimizers.model import ResNet18, parameter_count
    from examples.cifar_optimizers.optimizers import OPTIMIZERS, make_schedule
    from examples.cifar_optimizers.options import Options, read_command_line, resolve, resolve_for, same_run
    from examples.cifar_optimizers.report import HEADER, conclude, describe, epoch_line
    from examples.cifar_optimizers.training_data import load_for_training
    from snippets.checkpoints import TrainingState, all_finite, load_checkpoint, save_checkpoint
    from snippets.device import pick_device
    from snippets.errors import RunError, UsageError, exit_with_one_line
    from snippets.memory import is_out_of_memory, memory_mb
    from snippets.provenance import provenance
    from snippets.resume import RunChoice, choose_run
    from snippets.run_folder import RunFolder, new_folder
    from snippets.seeds import seed_everything
    from snippets.stop_signals import StopSignals
except ModuleNotFoundError as missing:
    print(
        f"error: this Python has no module {missing.name!r}; "
        "run `make train`, or enter the environment first: source .venv/bin/activate",
        file=sys.stderr,
    )
    sys.exit(2)

SYSTEM = "cifar_optimizers"
LOG_EVERY = 10  # steps between looks at the loss: each look makes the CPU wait for the GPU
SAVE_EVERY = 60.0  # seconds between checkpoints inside an epoch; there is one after each epoch anyway
TEST_BATCH = 1000  # images per forward pass when nothing is learned


def epoch_order(count: int, seed: int, epoch: int) -> torch.Tensor:
    """Return the indices 0 … count - 1 in an order that depends on seed and epoch alone.

    A resumed run therefore finds its place again from the number of finished steps.
    """
    generator = torch.Generator().manual_seed(seed + 1_000_003 * epoch)
    return torch.randperm(count, generator=generator)


# --8<-- [start:training_step]
def training_step(state: TrainingState, data: ImageData, indices: torch.Tensor) -> torch.Tensor:
    """Learn from the images at `indices` (batch,); return their mean loss and how many were right, (2,).

    The two numbers stay on the device: reading them here would make the CPU wait for the GPU in every step.
    """
    labels = data.train_labels[indices]
    scores = state.model(network_input(data, data.train_images[indices], augment=True))
    loss = F.cross_entropy(scores, labels, label_smoothing=data.label_smoothing)
    state.model.zero_grad(set_to_none=True)
    loss.backward()
    for optimizer, scheduler in zip(state.optimizers, state.schedulers, strict=True):
        optimizer.step()
        scheduler.step()
    state.step += 1
    right = (scores.argmax(1) == labels).sum()
    return torch.stack([loss.detach(), right.float()])


# --8<-- [end:training_step]
@torch.no_grad()
def evaluate(model: ResNet18, data: ImageData) -> tuple[float, float]:
    """Return mean cross-entropy (nats) and accuracy (0 to 1) on the held-out images, without augmentation."""
    model.eval()
    loss, right = 0.0, 0
    for start in range(0, len(data.test_labels), TEST_BATCH):
        images = network_input(data, data.test_images[start : start + TEST_BATCH], augment=False)
        labels = data.test_labels[start : start + TEST_BATCH]
        scores = model(images)
        loss += F.cross_entropy(scores, labels, reduction="sum").item()
        right += (scores.argmax(1) == labels).sum().item()
    model.train()
    return loss / len(data.test_labels), right / len(data.test_labels)


@dataclass
class Training:
    """A run in progress: its options, data, folder and state."""

    options: Options
    data: ImageData
    run: RunFolder
    state: TrainingState
    config: dict[str, Any]
    steps_per_epoch: int
    total_steps: int
    unread: list[torch.Tensor] = field(default_factory=list)  # results of steps, still on the device
    clock: float = field(default_factory=time.monotonic)

    # --8<-- [start:training_loop]
    def train(self, stop: StopSignals, bar: tqdm) -> None:
        """Train until the last step, or until a signal asks to stop; save what was reached."""
        state, batch_size = self.state, self.options.batch_size
        order, saved_at = None, time.monotonic()
        while state.step < self.total_steps and not stop.received:
            epoch, batch = divmod(state.step, self.steps_per_epoch)
            if order is None or batch == 0:
                order = epoch_order(len(self.data.train_labels), self.options.seed, epoch).to(state.device)
            indices = order[batch * batch_size : (batch + 1) * batch_size]
            self.unread.append(training_step(state, self.data, indices))
            bar.update()

            epoch_done = state.step % self.steps_per_epoch == 0 or state.step == self.total_steps
            save_now = epoch_done or bool(stop.received) or time.monotonic() - saved_at > SAVE_EVERY
            if save_now or state.step % LOG_EVERY == 0:
                self.look(epoch_done)
            if save_now:
                self.save(self.run.last_checkpoint)
                saved_at = time.monotonic()

    # --8<-- [end:training_loop]
    def look(self, epoch_done: bool) -> None:
        """Read the losses of the steps since the last look, and tell the files and the user."""
        state, images = self.state, len(self.unread) * self.options.batch_size
        loss = self.read_losses()
        speed = round(images / self.tick(), 1)
        result = self.finish_epoch(speed) if epoch_done else {}
        if epoch_done or state.step % LOG_EVERY == 0:
            epoch, rate = round(state.step / self.steps_per_epoch, 4), state.schedulers[0].get_last_lr()[0]
            self.run.log(step=state.step, epoch=epoch, loss=loss, lr=rate, samples_per_s=speed, **result)
        eta = (self.total_steps - state.step) * state.progress["seconds"] / state.step
        memory = round(memory_mb(state.device), 1)
        self.run.beat(step=state.step, loss=loss, samples_per_s=speed, eta_s=round(eta, 1), memory_mb=memory)

    def read_losses(self) -> float:
        """Fetch all unread losses in one transfer, add them to the epoch's sums, and return the latest.

        Raises RunError with the step at which the loss stopped being a number.
        """
        progress = self.state.progress
        first_step = self.state.step - len(self.unread) + 1
        pairs = torch.stack(self.unread).tolist()
        self.unread.clear()
        for step, (loss, right) in enumerate(pairs, first_step):
            if not math.isfinite(loss):
                raise self.broken(f"the loss became {loss}", step)
            progress["loss_sum"] += loss
            progress["right"] += right
            progress["steps"] += 1
        return pairs[-1][0]

    def broken(self, what: str, step: int) -> RunError:
        """Return the error that says where training broke, what is left of it, and what to try."""
        last = self.run.last_checkpoint
        left = f"the last good checkpoint is {last}" if last.exists() else "no checkpoint was written yet"
        return RunError(f"{what} at step {step}; {left}; try a lower --lr (it was {self.options.lr:g})")

    def tick(self) -> float:
        """Return the seconds since the last tick, and add them to the run's."""
        now = time.monotonic()
        passed, self.clock = now - self.clock, now
        self.state.progress["seconds"] += passed
        return passed

    def finish_epoch(self, speed: float) -> dict[str, float]:
        """Measure, print a line, keep the best network, and return the results. The sums begin anew."""
        progress, step = self.state.progress, self.state.step
        epoch = math.ceil(step / self.steps_per_epoch)
        result = {
            "train_loss": progress["loss_sum"] / progress["steps"],
            "train_accuracy": progress["right"] / (progress["steps"] * self.options.batch_size),
        }
        result["test_loss"], result["test_accuracy"] = evaluate(self.state.model, self.data)
        self.tick()
        self.run.say(epoch_line(epoch, step, result, speed))
        progress |= {"loss_sum": 0.0, "right": 0.0, "steps": 0, "result": result}
        if result["test_accuracy"] > progress["best_accuracy"]:
            progress |= {"best_accuracy": result["test_accuracy"], "best_epoch": epoch}
            self.save(self.run.best_checkpoint)
        return result

    def save(self, path: Path) -> None:
        """Write a checkpoint. Raises RunError rather than keep weights that are not numbers."""
        if not all_finite(self.state.model):
            raise self.broken("a weight became NaN or infinite", self.state.step)
        save_checkpoint(path, self.state, self.config)


def begin(options: Options, data: ImageData, device: torch.device, total_steps: int) -> TrainingState:
    """Return a new network with its optimizers and schedules, before the first step."""
    seed_everything(options.seed)
    model = ResNet18(data.classes, options.width).to(device).train()
    optimizers = OPTIMIZERS[options.optimizer].build(model, options.lr, options.weight_decay)
    schedulers = [make_schedule(optimizer, options.schedule, total_steps) for optimizer in optimizers]
    progress = {"loss_sum": 0.0, "right": 0.0, "steps": 0, "seconds": 0.0, "result": {}}
    progress |= {"best_accuracy": -1.0, "best_epoch": 0}
    return TrainingState(model, optimizers, schedulers, device, progress=progress)


def choose(typed: dict[str, Any]) -> tuple[RunChoice, Options]:
    """Return whether a run begins or continues, and its options. Raises UsageError."""
    fresh = resolve(typed)
    choice = choose_run(SYSTEM, typed.get("out"), typed.get("resume"), lambda config: same_run(fresh, config))
    if choice.config is None:
        return choice, fresh
    return choice, resolve_for(choice.config, typed, choice.folder)


def set_up(choice: RunChoice, options: Options) -> Training:
    """Check everything that can be wrong, then open the run folder and write or compare its config.json.

    Raises UsageError, before anything is written.
    """
    device, reason = pick_device(options.device)
    data = load_for_training(options)
    fingerprint, data = data.fingerprint(), data.to(device)
    steps_per_epoch = len(data.train_labels) // options.batch_size
    total_steps = min(options.epochs * steps_per_epoch, options.max_steps or sys.maxsize)
    checkpoint = load_checkpoint(choice.checkpoint) if choice.checkpoint else None
    state = begin(options, data, device, total_steps)
    config = {
        "system": SYSTEM,
        "options": asdict(options),
        "device": f"{device} ({reason})",
        "parameters": parameter_count(state.model),
        "steps_per_epoch": steps_per_epoch,
        "total_steps": total_steps,
        "data_crc32": fingerprint,
        "provenance": provenance(),
    }
    if choice.config is not None and choice.config.get("data_crc32") != fingerprint:
        raise UsageError(f"the images of --data {options.data} are not those that {choice.folder} began with")
    run = RunFolder(new_folder(choice.folder, SYSTEM) if choice.config is None else choice.folder)
    if choice.config is None:
        run.write_config(config)
    elif checkpoint is not None:
        state.restore(checkpoint)
    run.forget_metrics_after(state.step)
    return Training(options, data, run, state, config, steps_per_epoch, total_steps)


def run_to_end(training: Training, stop: StopSignals) -> int:
    """Train, then conclude or say how to go on. Return the exit code."""
    run, state, total = training.run, training.state, training.total_steps
    describe(run, training.options, training.data, training.config)
    if state.step:
        run.say(f"continuing after step {state.step:,} of {total:,}")
    run.beat("running", step=state.step, total_steps=total, device=str(state.device), precision="fp32")
    run.say(HEADER)
    on_terminal = {"disable": None, "leave": False, "file": sys.stdout}  # elsewhere: no bar, only lines
    with tqdm(total=total, initial=state.step, unit="step", **on_terminal) as bar:
        training.train(stop, bar)
    if state.step < total:
        run.beat("interrupted")
        again = shlex.join(["python", sys.argv[0], "--resume", str(run.path)])
        run.say(f"stopped by {stop.received.name} after step {state.step:,} of {total:,}; to go on: {again}")
        return 128 + stop.received
    conclude(run, training.options, training.data, state)
    return 0


def main(argv: Sequence[str] | None = None) -> int:
    """Train as the command line says and return the exit code. Raises UsageError and RunError."""
    typed = read_command_line(argv)
    with StopSignals() as stop:
        choice, options = choose(typed)
        if choice.note:
            print(choice.note)
        if choice.finished:
            print(f"{choice.folder} is finished; see {choice.folder / 'summary.json'}")
            return 0
        try:
            training = set_up(choice, options)
            with training.run:
                return run_to_end(training, stop)
        except (RuntimeError, MemoryError) as error:
            if not is_out_of_memory(error):
                raise
            sizes = f"--batch-size (it is {options.batch_size}) or --width (it is {options.width})"
            raise RunError(f"out of memory; lower {sizes}") from error


if __name__ == "__main__":
    sys.exit(exit_with_one_line(main))
