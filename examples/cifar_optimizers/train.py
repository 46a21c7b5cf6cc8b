"""Train a ResNet-18 on small images with one of six optimizers.

With no option: 1,442 handwritten digits at 16×16, width 8, SGD, 10 epochs; about 99 % accuracy on 355
held-out digits after a few seconds on two CPU cores. The published set-up: `--data cifar10 --download`.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # the folder of examples/ and snippets/
try:
    from examples.programs import imports

    imports.prepare(__file__)
except ModuleNotFoundError:
    print(f"error: {__file__} needs examples/ and snippets/, as in the handbook; copy both", file=sys.stderr)
    sys.exit(2)

import torch
from torch import nn
from torch.nn import functional as F

from examples.cifar_optimizers import report
from examples.cifar_optimizers.data_sources import load_data
from examples.cifar_optimizers.image_data import (
    AugmentedImages,
    FromPixels,
    ImageData,
    draw_moves,
    keep_fraction,
    normalised,
    redraw_labels,
)
from examples.cifar_optimizers.model import ResNet18, parameter_count
from examples.cifar_optimizers.optimizers import OPTIMIZERS, make_schedule
from examples.cifar_optimizers.options import Options, read_command_line, resolve
from examples.programs.program import (
    Program,
    batch_source,
    check_batch_size,
    compiled,
    open_device,
    plan_steps,
)
from examples.programs.speed import in_memory_format
from snippets.checkpoints import TrainingState
from snippets.compile_safely import Network
from snippets.errors import UsageError, exit_with_one_line
from snippets.processes import draws_of_batch
from snippets.seeds import seed_everything
from snippets.training_loop import EpochResult, Task

TEST_BATCH = 1000  # images per forward pass in evaluation

Batch = tuple[torch.Tensor, ...]  # images, labels and perhaps the moves of the images


def load_for_training(options: Options) -> ImageData:
    """Return the data with the given fraction of training images and the given share of wrong labels.

    The held-out images and labels are unchanged. Raises UsageError.
    """
    check = not options.skip_checksum
    data = load_data(options.data, options.image_size, download=options.download, check=check)
    generator = torch.Generator().manual_seed(options.seed)
    if options.data_fraction < 1:
        kept = keep_fraction(data.train_labels, options.data_fraction, generator)
        data.train_images, data.train_labels = data.train_images[kept], data.train_labels[kept]
    data.train_labels = redraw_labels(data.train_labels, options.label_noise, data.classes, generator)
    check_batch_size(options, len(data.train_labels), "training images")
    return data


def learned(data: ImageData) -> dict[str, Any]:
    """Return what prediction needs besides weights and options: names of the classes, mean and deviation."""
    names = None if data.class_names is None else list(data.class_names)
    return {"class_names": names, "mean": data.mean.flatten().tolist(), "std": data.std.flatten().tolist()}


class ImageClassification(Task):
    """A ResNet-18 that learns to classify images. Without workers, all images are kept on the device."""

    options: Options
    max_norm = None  # gradients are not clipped

    def __init__(self, options: Options) -> None:
        """Load the data and make network, optimizers and schedules. Raises UsageError; writes nothing."""
        device, self.precision, self.facts = open_device(options)
        if options.optimizer == "muon" and self.precision.name == "fp16":
            raise UsageError("--optimizer muon cannot scale gradients as fp16 needs it; use --precision bf16")
        data = load_for_training(options)
        steps = plan_steps(options, len(data.train_labels))
        self.samples_per_step, self.steps_per_epoch, self.total_steps = steps
        seed_everything(options.seed)
        model = in_memory_format(options, ResNet18(data.classes, options.width).to(device).train(), device)
        build = OPTIMIZERS[options.optimizer].build
        optimizers = build(model, options.lr, options.weight_decay, options.fused)
        schedulers = [
            make_schedule(optimizer, options.schedule, self.total_steps) for optimizer in optimizers
        ]
        self.state = TrainingState(model, optimizers, schedulers, device, scaler=self.precision.scaler())
        self.facts |= {"parameters": parameter_count(model), "data_crc32": data.fingerprint()} | learned(data)
        self.options, self.data = options, data.to(device)
        columns = self.data.train_images, self.data.train_labels
        self.source = batch_source(options, device, columns, AugmentedImages(data))
        first = tuple(column[: options.batch_size] for column in columns)
        self.network = compiled(self, FromPixels(model, self.data), first)

    # --8<-- [start:training_step]
    def parts(self, batch: Batch) -> Iterator[tuple[Batch, float]]:
        """Yield the microbatches of a batch, with random moves of its images unless the workers made them."""
        if not self.options.workers and (self.data.crop_padding or self.data.flip):
            with draws_of_batch(self.state.device, self.options.accumulate):
                batch = *batch, draw_moves(self.data, batch[0])
        yield from super().parts(batch)

    def measures(self, part: Batch, network: Network) -> torch.Tensor:
        """Return mean loss and accuracy on images (batch, 3, size, size) with labels (batch,), (2,)."""
        images, labels, *moves = part
        with self.precision.autocast():
            scores = network(images, *moves)
            loss = F.cross_entropy(scores, labels, label_smoothing=self.data.label_smoothing)
        right = scores.argmax(1) == labels
        return torch.stack([loss, right.float().mean()])

    # --8<-- [end:training_step]
    def evaluate(self, epoch: int, measures: list[float], samples_per_s: float) -> EpochResult:
        """Evaluate the network on the held-out images."""
        values = {"train_loss": measures[0], "train_accuracy": measures[1]}
        values["test_loss"], values["test_accuracy"] = evaluate(self.state.model, self.data)
        line = report.epoch_line(epoch, self.state.step, values, samples_per_s)
        return EpochResult(values, values["test_accuracy"], line)


@torch.no_grad()
def evaluate(model: nn.Module, data: ImageData) -> tuple[float, float]:
    """Return mean cross-entropy (nats) and accuracy (0 to 1) on the held-out images, in float32."""
    model.eval()
    loss, right = 0.0, 0
    for start in range(0, len(data.test_labels), TEST_BATCH):
        images = normalised(data.test_images[start : start + TEST_BATCH], data.mean, data.std)
        labels = data.test_labels[start : start + TEST_BATCH]
        scores = model(images)
        loss += F.cross_entropy(scores, labels, reduction="sum").item()
        right += (scores.argmax(1) == labels).sum().item()
    model.train()
    return loss / len(data.test_labels), right / len(data.test_labels)


PROGRAM = Program(
    "cifar_optimizers",
    read_command_line,
    resolve,
    ImageClassification,
    report,
    size_options=("batch_size", "width"),
)

if __name__ == "__main__":
    sys.exit(exit_with_one_line(PROGRAM.main))
