"""Lightning's loop, with the run folder, the checkpoints and the stop signals of all systems here.

Lightning opens autocast, accumulates and clips gradients, steps, and iterates over epochs. A callback passes
each step to the `Training` of all systems, which writes the run folder and decides when to stop.
"""

import contextlib
import logging
import os
import signal
import warnings
from collections.abc import Iterator
from typing import Any

import pytorch_lightning as pl
import torch
from pytorch_lightning.accelerators import Accelerator, CPUAccelerator, CUDAAccelerator, MPSAccelerator
from pytorch_lightning.loggers import CSVLogger, Logger, TensorBoardLogger
from pytorch_lightning.plugins import MixedPrecision, Precision
from pytorch_lightning.plugins.environments import TorchElasticEnvironment
from pytorch_lightning.strategies import DDPStrategy, SingleDeviceStrategy, Strategy
from tqdm import tqdm

from examples.genomic_caduceus.learning import SequenceTask
from examples.programs.run_folder import RunFolder
from snippets.lightning_on_mac import check_autocast
from snippets.processes import BUFFERS, count, draws_of_batch, rank
from snippets.stop_signals import StopSignals
from snippets.training_loop import Training

ACCELERATORS: dict[str, type[Accelerator]] = {
    "cpu": CPUAccelerator,
    "cuda": CUDAAccelerator,
    "mps": MPSAccelerator,
}
logging.getLogger("pytorch_lightning").setLevel(logging.ERROR)  # the report describes the machine


# --8<-- [start:module]
class Module(pl.LightningModule):
    """A task as a LightningModule: loss of a batch, optimizers, schedules."""

    def __init__(self, task: Any) -> None:
        super().__init__()
        self.task, self.model = task, task.state.model

    def training_step(self, batch: Any, index: int) -> torch.Tensor:
        """Return the loss of a batch; Lightning calls backward on it."""
        check_autocast(self)
        with draws_of_batch(self.task.state.device) as drawn:
            self.measures = self.task.measures(batch, drawn(self.task.network))
        return self.measures[0]

    def configure_optimizers(self) -> Any:
        """Return the task's optimizers, with schedules that advance at each step."""
        schedules = [{"scheduler": part, "interval": "step"} for part in self.task.state.schedulers]
        return self.task.state.optimizers, schedules


# --8<-- [end:module]
class Parts:
    """The microbatches of all epochs, continued in a resumed run."""

    def __init__(self, training: Training) -> None:
        self.training = training

    def __iter__(self) -> Iterator[Any]:
        """Yield the remaining microbatches of the present epoch."""
        for batch in self.training.open_epoch():
            for part, _ in self.training.task.parts(batch):
                yield part


def placed(device: torch.device) -> dict[str, Any]:
    """Return the arguments of a Trainer that computes on `device`, alone or with other processes."""
    if count() == 1:
        return {"strategy": OneProcess(device, ACCELERATORS[device.type]())}
    here = int(os.environ["LOCAL_WORLD_SIZE"])  # processes on this machine
    settings = {"gradient_as_bucket_view": True, BUFFERS: False}
    strategy = SeveralProcesses(cluster_environment=TorchElasticEnvironment(), **settings)
    return {
        "strategy": strategy,
        "accelerator": device.type,
        "devices": here,
        "num_nodes": count() // here,
        "use_distributed_sampler": False,
    }


class TellTraining(pl.Callback):
    """Counts the steps and passes each to `training`, which writes the run folder and may stop the loop."""

    def __init__(self, training: "LightningTraining", stop: StopSignals, bar: tqdm) -> None:
        self.training, self.stop, self.bar = training, stop, bar
        self.measures: list[torch.Tensor] = []

    def on_train_batch_start(self, trainer: pl.Trainer, *others: Any) -> None:
        """Store the learning rate of this step: Lightning sets the next one before `on_train_batch_end`."""
        self.training.rate = self.training.state.optimizers[0].param_groups[0]["lr"]

    def on_train_batch_end(self, trainer: pl.Trainer, module: Module, *others: Any) -> None:
        """Count a step after the last of its microbatches."""
        self.measures.append(module.measures.detach())
        if len(self.measures) == trainer.accumulate_grad_batches:
            mean = torch.stack(self.measures).mean(0)
            self.measures.clear()
            self.training.state.step += 1
            trainer.should_stop = self.training.after_step(mean, self.stop, self.bar)


class StayingOnDevice(Strategy):
    """Keeps network and optimizer on the device. Lightning moves both to the CPU when the training ends."""

    def teardown(self) -> None:
        """Release the resources of the accelerator."""
        self.accelerator.teardown()


class OneProcess(StayingOnDevice, SingleDeviceStrategy):
    """Lightning's strategy for a single process."""


class SeveralProcesses(StayingOnDevice, DDPStrategy):
    """Lightning's DistributedDataParallel, in the processes that torchrun started."""


@contextlib.contextmanager
def keyboard_interrupt_as_usual() -> Iterator[None]:
    """Inside the block, make a second Ctrl-C raise KeyboardInterrupt.

    Lightning turns it into an exit with code 1, and ignores further ones.
    """
    try:
        yield
    except SystemExit as left:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        raise KeyboardInterrupt from left


class LightningTraining(Training):
    """The training of one run with Lightning's loop."""

    task: SequenceTask
    run: RunFolder

    # --8<-- [start:fit]
    def train(self, stop: StopSignals, bar: tqdm) -> None:
        """Train until the last step or until a stop signal, and save the state."""
        if self.state.step >= self.task.total_steps:
            return
        options = self.task.options
        self.records = self.loggers()
        device = next(self.state.model.parameters()).device  # with its index, which Lightning needs on CUDA
        with warnings.catch_warnings(), keyboard_interrupt_as_usual():
            warnings.filterwarnings("ignore", module="pytorch_lightning")  # it also warns of an unused GPU
            trainer = pl.Trainer(
                **placed(device),
                plugins=[self.precision()],
                max_epochs=-1,  # until `should_stop`
                accumulate_grad_batches=options.accumulate,
                gradient_clip_val=options.clip,
                callbacks=[TellTraining(self, stop, bar)],
                logger=self.records,
                deterministic=options.deterministic or None,
                benchmark=options.benchmark,
                enable_checkpointing=False,
                enable_progress_bar=False,
                enable_model_summary=False,
            )
            trainer._signal_connector.register_signal_handlers = lambda: None
            trainer.fit(Module(self.task), Parts(self))

    # --8<-- [end:fit]
    def report(self, epoch_done: bool) -> None:
        """Report as in every training, and write the metrics to the loggers of Lightning."""
        super().report(epoch_done)
        for record in self.records:
            values = {"loss": self.run.pulse["loss"], "lr": self.rate}
            values |= self.state.progress["result"] if epoch_done else {}
            record.log_metrics(values, self.state.step)
            record.save()

    def precision(self) -> Precision:
        """Return Lightning's plug-in for the precision of the run."""
        name, scaler = self.task.precision.name, self.state.scaler
        if name == "fp32":
            return Precision()
        return MixedPrecision(
            f"{name.removeprefix('fp')}-mixed",
            self.state.device.type,
            scaler if scaler.is_enabled() else None,
        )

    def loggers(self) -> list[Logger]:
        """Return the additional loggers of the metrics, in the run folder.

        A resumed run starts another file. TensorBoard then discards the repeated steps.
        """
        name, folder = self.task.options.logger, self.run.path
        if rank() > 0:
            return []
        if name == "csv":
            return [CSVLogger(folder, name="csv")]
        if name == "tensorboard":
            again = self.state.step + 1
            return [TensorBoardLogger(folder, name="tensorboard", version="", purge_step=again)]
        return []
