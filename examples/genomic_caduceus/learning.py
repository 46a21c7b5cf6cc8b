"""The shared part of both programs: set-up, AdamW with warm-up, and the report of the network."""

from collections.abc import Iterable, Sequence
from functools import partial
from importlib.util import find_spec
from typing import Any

import torch
from torch import nn

from examples.genomic_caduceus.model import Backbone
from examples.genomic_caduceus.options import GenomicOptions
from examples.programs.program import (
    batch_source,
    check_batch_size,
    compiled,
    open_device,
    plan_steps,
)
from examples.programs.run_folder import RunFolder
from snippets.checkpoints import TrainingState
from snippets.errors import UsageError
from snippets.learning_rate import cosine, warm_up
from snippets.seeds import seed_everything
from snippets.training_loop import Task, Training
from snippets.untrusted_checkpoints import tensors_crc32

LEAST_RATE = 0.1  # final learning rate, relative to the highest


# --8<-- [start:schedule]
def warm_up_then_cosine(step: int, total: int, warmup: float) -> float:
    """Return the learning rate of a step (0, 1, …) of `total`, relative to the highest.

    It rises linearly over the share `warmup` of the steps, then falls along a cosine to a tenth.
    """
    rising = max(1, round(warmup * total))
    return warm_up(step, rising) * cosine(max(0, step - rising), max(1, total - rising), LEAST_RATE)


# --8<-- [end:schedule]
class SequenceTask(Task):
    """A network that learns from tokens; each program defines its loss."""

    options: GenomicOptions

    def set_up_data(self, options: GenomicOptions, columns: Sequence[torch.Tensor], what: str) -> None:
        """Set up device, steps and data, whose rows are in `columns`. Raises UsageError."""
        self.options, self.max_norm = options, options.clip
        device, self.precision, self.facts = open_device(options)
        check_batch_size(options, len(columns[0]), what)
        if options.logger != "none" and options.loop != "lightning":
            raise UsageError(f"logger={options.logger} is one of Lightning's: add trainer.loop=lightning")
        if options.logger == "tensorboard" and find_spec("tensorboard") is None:
            raise UsageError("logger=tensorboard needs a package: pip install tensorboard")
        torch.use_deterministic_algorithms(options.deterministic)
        torch.backends.cudnn.benchmark = options.benchmark
        self.samples_per_step, self.steps_per_epoch, self.total_steps = plan_steps(options, len(columns[0]))
        self.device, self.columns = device, columns
        seed_everything(options.seed)

    def backbone(self) -> Backbone:
        """Return a network without a head, with random weights."""
        return Backbone(self.options.width, self.options.layers, self.options.state)

    def set_up_network(self, model: nn.Module, held_out: Iterable[torch.Tensor]) -> None:
        """Make optimizer and schedule for a network, and the source of batches."""
        options = self.options
        optimizer = torch.optim.AdamW(
            model.parameters(), options.lr, weight_decay=options.weight_decay, fused=options.fused or None
        )
        rate = partial(warm_up_then_cosine, total=self.total_steps, warmup=options.warmup)
        schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, rate)
        self.state = TrainingState(
            model.to(self.device), [optimizer], [schedule], self.device, scaler=self.precision.scaler()
        )
        self.source = batch_source(options, self.device, self.columns)
        self.held_out = [column.to(self.device) for column in held_out]
        self.facts |= {
            "parameters": sum(parameter.numel() for parameter in model.parameters()),
            "sequences": {"train": len(self.columns[0]), "val": len(self.held_out[0])},
            "length": self.columns[0].shape[1],
            "data_crc32": tensors_crc32([*self.columns, *self.held_out]),
        }
        first = [column[: options.batch_size].to(self.device) for column in self.columns]
        self.network = compiled(self, model, first)


def training(task: SequenceTask, run: RunFolder, config: dict[str, Any], advice: str) -> Training:
    """Return the training with the loop named by `trainer.loop`; Lightning is imported only for its own."""
    if task.options.loop == "plain":
        return Training(task, run, config, advice)
    from examples.genomic_caduceus.lightning_loop import LightningTraining

    return LightningTraining(task, run, config, advice)


HEADER = "epoch   step  train loss  accuracy  val loss  accuracy  sequences/s"


def network_line(options: GenomicOptions, config: dict[str, Any]) -> str:
    """Return the line about the network of a run."""
    strands = "both strands" if options.rcps else "one strand"
    layers = f"{options.layers} layer{'s' * (options.layers > 1)}"
    return (
        f"network    bidirectional Mamba, {layers} of width {options.width}, "
        f"state {options.state}, {strands}: {config['parameters']:,} parameters"
    )


def epoch_line(epoch: int, step: int, result: dict[str, float], speed: float) -> str:
    """Return one line of the table under HEADER."""
    return (
        f"{epoch:5d} {step:6d} {result['train_loss']:11.4f} {result['train_accuracy']:9.2%} "
        f"{result['val_loss']:9.4f} {result['val_accuracy']:9.2%} {speed:12.0f}"
    )
