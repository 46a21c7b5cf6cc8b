"""What both programs have in common: how they begin, AdamW with a warm-up, and a step."""

import math
from collections.abc import Iterable, Sequence
from functools import partial
from importlib.util import find_spec

import torch
from torch import nn

from examples.genomic_caduceus.model import Backbone
from examples.genomic_caduceus.options import GenomicOptions
from snippets.accumulation import in_parts, optimizer_step
from snippets.checkpoints import TrainingState
from snippets.framework.errors import UsageError
from snippets.framework.tensor_checksum import tensors_crc32
from snippets.framework.training_setup import (
    batch_source,
    check_batch_size,
    compiled,
    open_device,
    plan_steps,
)
from snippets.seeds import seed_everything
from snippets.training_loop import Task

LEAST_RATE = 0.1  # of the highest learning rate, at the end


# --8<-- [start:schedule]
def warm_up_then_cosine(step: int, total: int, warmup: float) -> float:
    """Return what part of the highest learning rate the step (0, 1, …) of `total` has.

    It rises in a straight line over the share `warmup` of the steps, then falls along a cosine to a tenth.
    """
    rising = max(1, round(warmup * total))
    if step < rising:
        return (step + 1) / (rising + 1)
    done = (step - rising) / max(1, total - rising)
    return LEAST_RATE + (1 - LEAST_RATE) * (1 + math.cos(math.pi * min(done, 1))) / 2


# --8<-- [end:schedule]
class SequenceTask(Task):
    """A network that learns from tokens; a program says what it computes from them."""

    def prepare(self, options: GenomicOptions, columns: Sequence[torch.Tensor], what: str) -> None:
        """Check the options that concern device and data, whose rows are in `columns`. Raises UsageError."""
        self.options, self.max_norm = options, options.clip
        device, self.precision, self.facts = open_device(options)
        check_batch_size(options, len(columns[0]), what)
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

    def begin(self, model: nn.Module, held_out: Iterable[torch.Tensor]) -> None:
        """Make optimizer and schedule for a network, and put the data in place."""
        options = self.options
        optimizer = torch.optim.AdamW(model.parameters(), options.lr, weight_decay=options.weight_decay)
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
        self.network = compiled(options, model, lambda network: self.measures(first, network)[0], self.facts)

    def measures(self, batch: Sequence[torch.Tensor], network: nn.Module | None = None) -> torch.Tensor:
        """Return what is measured of a batch (k,), the loss first. Without `network`, the task's own."""
        raise NotImplementedError

    # --8<-- [start:plain_step]
    def learn(self, batch: Sequence[torch.Tensor]) -> torch.Tensor:
        """Take one step and return its measures (k,).

        Lightning's loop does the same with `measures` alone; measurements of a step use this.
        """
        total = torch.zeros((), device=self.state.device)
        for part, share in in_parts(batch, self.options.batch_size):
            with self.precision.autocast():
                measures = self.measures(part) * share
            self.state.scaler.scale(measures[0]).backward()
            total = total + measures.detach()
        optimizer_step(self.state, self.max_norm)
        return total

    # --8<-- [end:plain_step]
