"""What every training system decides before its first step: device, number format, number of steps."""

import logging
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import nn
from torch.utils.data import Dataset, TensorDataset

from snippets.compile_safely import Network, WarmUp, compile_or_eager
from snippets.data_loading import EpochLoader
from snippets.data_on_device import ResidentBatches
from snippets.device import is_mps, pick_device
from snippets.framework.errors import UsageError
from snippets.framework.training_options import TrainingOptions
from snippets.precision import Precision, pick_precision
from snippets.watermarks import check_watermarks


class Compute(NamedTuple):
    """Where a training computes and in which format; `facts` say both with the reasons, for config.json."""

    device: torch.device
    precision: Precision
    facts: dict[str, Any]


class Steps(NamedTuple):
    """How many samples a step takes, and how many steps an epoch and the whole run have."""

    samples_per_step: int
    steps_per_epoch: int
    total_steps: int


def open_device(options: TrainingOptions) -> Compute:
    """Return device and number format of a training. Raises UsageError when they cannot be used."""
    device, reason = pick_device(options.device)
    if is_mps(device):
        check_watermarks()
    precision = pick_precision(options.precision, device)
    facts = {"device": f"{device} ({reason})", "precision": f"{precision.name} ({precision.reason})"}
    return Compute(device, precision, facts)


def plan_steps(options: TrainingOptions, samples: int) -> Steps:
    """Return the steps that `samples` samples make; an incomplete last one of an epoch is left out."""
    samples_per_step = options.batch_size * options.accumulate
    steps_per_epoch = samples // samples_per_step
    total_steps = min(options.epochs * steps_per_epoch, options.max_steps or sys.maxsize)
    return Steps(samples_per_step, steps_per_epoch, total_steps)


def check_batch_size(options: TrainingOptions, samples: int, what: str) -> None:
    """Raise UsageError when a step takes more than the `samples` that there are, `what` in words."""
    if options.batch_size * options.accumulate > samples:
        times = f" × --accumulate {options.accumulate}" if options.accumulate > 1 else ""
        raise UsageError(f"--batch-size {options.batch_size}{times}: there are only {samples} {what}")


def batch_source(
    options: TrainingOptions,
    device: torch.device,
    columns: Sequence[torch.Tensor],
    rows: Dataset | None = None,
) -> ResidentBatches | EpochLoader:
    """Return what gives the batches of an epoch on `device`, each as large as a step.

    Without workers, `columns` (one entry per sample: images, labels) lie on the device as a whole. Workers
    read `rows`, which are those of the columns if nothing else is given.
    """
    size = options.batch_size * options.accumulate
    if not options.workers:
        return ResidentBatches([column.to(device) for column in columns], size, options.seed)
    rows = TensorDataset(*columns) if rows is None else rows
    return EpochLoader(rows, size, options.seed, workers=options.workers, device=device)


def compiled(options: TrainingOptions, module: nn.Module, warm_up: WarmUp, facts: dict[str, Any]) -> Network:
    """Return the network that trains: compiled, if that is wanted and gives the same loss and gradients.

    `warm_up(network)` returns the loss on a batch. `facts` then say whether it was compiled, and why not.
    """
    if not options.compile:
        return module
    print("compiling and comparing with the uncompiled network: a minute or several", flush=True)
    # With a CUDA toolkit but no GPU, an import of the compiler would warn of it before the report begins.
    logging.getLogger("torch.utils.cpp_extension").setLevel(logging.ERROR)
    network, facts["compile"] = compile_or_eager(module, warm_up)
    return network
