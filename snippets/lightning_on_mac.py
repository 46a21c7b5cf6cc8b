"""Lightning on one Mac: a Trainer without a tracking service, resuming, and a check of autocast."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import pytorch_lightning as pl
import torch
from pytorch_lightning.callbacks import ModelCheckpoint
from pytorch_lightning.loggers import CSVLogger
from torch import nn
from torch.utils.data import Sampler

from snippets.data_order import epoch_order


# --8<-- [start:check_autocast]
def check_autocast(module: pl.LightningModule) -> None:
    """Raise RuntimeError unless autocast uses the Trainer's `precision`. Call it in `training_step`."""
    device, precision = module.device.type, module.trainer.precision
    state = "on" if torch.is_autocast_enabled(device) else "off"
    if (state == "on") != precision.endswith("-mixed"):
        raise RuntimeError(f"precision is {precision!r}, but autocast is {state} for {device}")


# --8<-- [end:check_autocast]
# --8<-- [start:network]
class Network(pl.LightningModule):
    """A small regression. Batches are pairs (inputs (batch, 8), targets (batch, 1))."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1))

    def training_step(self, batch: list[torch.Tensor], index: int) -> torch.Tensor:
        """Return the loss of a batch; Lightning calls backward on it."""
        check_autocast(self)
        inputs, targets = batch
        loss = nn.functional.mse_loss(self.layers(inputs), targets)
        self.log("loss", loss)
        return loss

    def configure_optimizers(self) -> torch.optim.Optimizer:
        """Return the optimizer. The parameters are already on the device."""
        return torch.optim.AdamW(self.parameters(), lr=0.01)


# --8<-- [end:network]
# --8<-- [start:order]
class OrderByEpoch(Sampler[int]):
    """A random order that depends on seed and epoch alone. Lightning calls `set_epoch` before each epoch."""

    def __init__(self, count: int, seed: int) -> None:
        self.count, self.seed, self.epoch = count, seed, 0

    def set_epoch(self, epoch: int) -> None:
        """Choose the order of an epoch, counted from 0."""
        self.epoch = epoch

    def __len__(self) -> int:
        """Return the number of samples."""
        return self.count

    def __iter__(self) -> Iterator[int]:
        """Yield the indices of the samples."""
        yield from epoch_order(self.count, self.seed, self.epoch).tolist()


# --8<-- [end:order]
# --8<-- [start:train]
def train(
    model: pl.LightningModule,
    batches: Iterable,
    folder: Path,
    epochs: int,
    precision: str = "32-true",
    accelerator: str = "auto",
) -> pl.Trainer:
    """Train for `epochs` in total, continuing from the last checkpoint in `folder` if there is one."""
    trainer = pl.Trainer(
        accelerator=accelerator,
        devices=1,
        precision=precision,
        max_epochs=epochs,
        accumulate_grad_batches=2,
        gradient_clip_val=1.0,
        log_every_n_steps=1,
        logger=CSVLogger(folder, name="metrics"),
        callbacks=[ModelCheckpoint(folder / "checkpoints", save_last=True)],
    )
    trainer.fit(model, batches, ckpt_path="last", weights_only=True)
    return trainer


# --8<-- [end:train]
