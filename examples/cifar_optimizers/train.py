"""Train a ResNet-18 on small images with one of six optimizers.

With no option: 1,442 handwritten digits at 16×16, width 8, SGD, 10 epochs; about 99 % of 355 held-out digits
right after a few seconds on two CPU cores. The published set-up: `--data cifar10 --download`.
"""

import sys
from collections.abc import Iterator
from typing import Any

try:
    import torch
    from torch import nn
    from torch.nn import functional as F

    from examples.cifar_optimizers.augmentation import network_input
    from examples.cifar_optimizers.image_data import ImageData
    from examples.cifar_optimizers.model import ResNet18, parameter_count
    from examples.cifar_optimizers.optimizers import OPTIMIZERS, make_schedule
    from examples.cifar_optimizers.options import Options, read_command_line, resolve
    from examples.cifar_optimizers.report import HEADER, conclude, describe, epoch_line
    from examples.cifar_optimizers.training_data import load_for_training
    from examples.cifar_optimizers.worker_data import AugmentedImages
    from snippets.accumulation import accumulate_gradients, update
    from snippets.checkpoints import TrainingState
    from snippets.data_loading import EpochLoader
    from snippets.data_on_device import ResidentBatches
    from snippets.framework.errors import UsageError, exit_with_one_line
    from snippets.framework.run_folder import RunFolder
    from snippets.framework.training_run import Program
    from snippets.framework.training_setup import compiled, open_device, plan_steps
    from snippets.seeds import seed_everything
    from snippets.training_loop import EpochResult
except ModuleNotFoundError as missing:
    print(
        f"error: this Python has no module {missing.name!r}; "
        "run `make train`, or enter the environment first: source .venv/bin/activate",
        file=sys.stderr,
    )
    sys.exit(2)

TEST_BATCH = 1000  # images per forward pass when nothing is learned

Batch = tuple[torch.Tensor, torch.Tensor]  # images and labels


def batch_length(batch: Batch) -> int:
    """Return the number of images in a batch, or in a part of one."""
    return len(batch[1])


class ImageClassification:
    """A ResNet-18 that learns to classify images. They all lie on the device, unless workers bring them."""

    header = HEADER
    max_norm = None  # gradients are not clipped

    def __init__(self, options: Options) -> None:
        """Load the data and make network, optimizers and schedules. Raises UsageError; writes nothing."""
        device, self.precision, self.facts = open_device(options)
        self.options = options
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
        size, seed = self.samples_per_step, options.seed
        if options.workers:
            images = AugmentedImages(data)
            self.source = EpochLoader(images, size, seed, workers=options.workers, device=device)
        self.data = data.to(device)
        resident = self.data.train_images, self.data.train_labels
        if not options.workers:
            self.source = ResidentBatches(resident, size, seed)
        self.network = model
        if options.compile:
            first = tuple(tensor[: options.batch_size] for tensor in resident)
            self.network = compiled(model, lambda network: self.loss(network, first), self.facts)

    def batches(self, epoch: int, first: int) -> Iterator[Batch]:
        """Yield the batches of an epoch from number `first` on. Workers have cropped and flipped theirs."""
        return self.source.batches(epoch, first)

    # --8<-- [start:training_step]
    def learn(self, batch: Batch) -> torch.Tensor:
        """Learn from images (batch, 3, size, size) and labels (batch,); return mean loss and accuracy, (2,).

        Both stay on the device: reading them here would make the CPU wait for the GPU in every step.
        """
        parts = list(zip(*(tensor.split(self.options.batch_size) for tensor in batch), strict=True))
        measures = accumulate_gradients(parts, self.measure, self.state.scaler, count=batch_length)
        update(self.state, self.max_norm)
        return measures

    def measure(self, batch: Batch) -> torch.Tensor:
        """Return mean loss and accuracy on images of which training sees augmented versions, (2,)."""
        loss, scores = self.loss_and_scores(self.network, batch)
        right = scores.argmax(1) == batch[1]
        return torch.stack([loss, right.float().mean()])

    def loss_and_scores(self, network: nn.Module, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the mean loss and the class scores (batch, classes) that `network` gives."""
        images, labels = batch
        images = network_input(self.data, images, augment=not self.options.workers)
        with self.precision.autocast():
            scores = network(images)
            loss = F.cross_entropy(scores, labels, label_smoothing=self.data.label_smoothing)
        return loss, scores

    # --8<-- [end:training_step]
    def loss(self, network: nn.Module, batch: Batch) -> torch.Tensor:
        """Return the mean loss alone."""
        return self.loss_and_scores(network, batch)[0]

    def evaluate(self, epoch: int, measures: list[float], samples_per_s: float) -> EpochResult:
        """Measure the network on the held-out images."""
        values = {"train_loss": measures[0], "train_accuracy": measures[1]}
        values["test_loss"], values["test_accuracy"] = evaluate(self.state.model, self.data)
        line = epoch_line(epoch, self.state.step, values, samples_per_s)
        return EpochResult(values, values["test_accuracy"], line)

    def describe(self, config: dict[str, Any]) -> list[str]:
        """Return the lines that a run begins with."""
        return describe(self.options, self.data, config)

    def conclude(self, run: RunFolder) -> list[str]:
        """Draw curves.png, write summary.json, and return the lines that a run ends with."""
        return conclude(run, self.options, self.data, self.state)


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
    "cifar_optimizers", read_command_line, resolve, ImageClassification, size_options=("batch_size", "width")
)

if __name__ == "__main__":
    sys.exit(exit_with_one_line(PROGRAM.main))
