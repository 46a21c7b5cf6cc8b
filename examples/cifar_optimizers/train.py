"""Train a ResNet-18 on small images with one of six optimizers.

With no option: 1,442 handwritten digits at 16×16, width 8, SGD, 10 epochs; about 99 % of 355 held-out digits
right after a few seconds on two CPU cores. The published set-up: `--data cifar10 --download`.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # there lie examples/ and snippets/
try:
    from snippets.framework import startup

    startup.prepare(__file__)
except ModuleNotFoundError:
    print(f"error: {__file__} needs examples/ and snippets/, as in the handbook; copy both", file=sys.stderr)
    sys.exit(2)

import torch
from torch import nn
from torch.nn import functional as F

from examples.cifar_optimizers import report
from examples.cifar_optimizers.augmentation import network_input
from examples.cifar_optimizers.image_data import ImageData
from examples.cifar_optimizers.model import ResNet18, parameter_count
from examples.cifar_optimizers.optimizers import OPTIMIZERS, make_schedule
from examples.cifar_optimizers.options import Options, read_command_line, resolve
from examples.cifar_optimizers.training_data import load_for_training
from examples.cifar_optimizers.worker_data import AugmentedImages
from snippets.accumulation import in_parts, optimizer_step
from snippets.checkpoints import TrainingState
from snippets.framework.errors import UsageError, exit_with_one_line
from snippets.framework.training_run import Program
from snippets.framework.training_setup import batch_source, compiled, open_device, plan_steps
from snippets.seeds import seed_everything
from snippets.training_loop import EpochResult, Task

TEST_BATCH = 1000  # images per forward pass when nothing is learned

Batch = tuple[torch.Tensor, torch.Tensor]  # images and labels


class ImageClassification(Task):
    """A ResNet-18 that learns to classify images. They all lie on the device, unless workers bring them."""

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
        model = ResNet18(data.classes, options.width).to(device).train()
        optimizers = OPTIMIZERS[options.optimizer].build(model, options.lr, options.weight_decay)
        schedulers = [
            make_schedule(optimizer, options.schedule, self.total_steps) for optimizer in optimizers
        ]
        self.state = TrainingState(model, optimizers, schedulers, device, scaler=self.precision.scaler())
        self.facts |= {"parameters": parameter_count(model), "data_crc32": data.fingerprint()}
        self.options, self.data = options, data.to(device)
        columns = self.data.train_images, self.data.train_labels
        self.source = batch_source(options, device, columns, AugmentedImages(data))
        first = [column[: options.batch_size] for column in columns]
        self.network = compiled(options, model, lambda network: self.loss(network, first)[0], self.facts)

    # --8<-- [start:training_step]
    # --8<-- [start:learn]
    def learn(self, batch: Batch) -> torch.Tensor:
        """Learn from images (batch, 3, size, size) and labels (batch,); return mean loss and accuracy, (2,).

        Both stay on the device: reading them here would make the CPU wait for the GPU in every step.
        """
        total = 0.0
        for part, share in in_parts(batch, self.options.batch_size):  # one part without --accumulate
            measures = share * self.measure(part)
            self.state.scaler.scale(measures[0]).backward()
            total += measures.detach()
        optimizer_step(self.state, self.max_norm)
        return total

    # --8<-- [end:learn]
    def measure(self, batch: Batch) -> torch.Tensor:
        """Return mean loss and accuracy on images of which training sees augmented versions, (2,)."""
        loss, scores = self.loss(self.network, batch)
        right = scores.argmax(1) == batch[1]
        return torch.stack([loss, right.float().mean()])

    def loss(self, network: nn.Module, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the mean loss and the class scores (batch, classes) that `network` gives."""
        images, labels = batch
        images = network_input(self.data, images, augment=not self.options.workers)
        with self.precision.autocast():
            scores = network(images)
            loss = F.cross_entropy(scores, labels, label_smoothing=self.data.label_smoothing)
        return loss, scores

    # --8<-- [end:training_step]
    def evaluate(self, epoch: int, measures: list[float], samples_per_s: float) -> EpochResult:
        """Measure the network on the held-out images."""
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
        images = network_input(data, data.test_images[start : start + TEST_BATCH], augment=False)
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
