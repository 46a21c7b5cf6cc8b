# --8<-- [start:file]
# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.13", "scikit-learn"]
# ///
"""Train a ResNet-18 on handwritten digits, on one page: data, network, loop, evaluation.

    python single_file.py        with PyTorch and scikit-learn installed
    uv run single_file.py        installs both by itself

It needs no other file and downloads nothing: scikit-learn carries the 1,797 digits. On two CPU
cores it takes seconds, and says at the end that about 99 % of the held-out digits are right. To
learn from images of your own, replace `load_digits_as_images`.
"""

import math
import time
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from pathlib import Path

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.nn import functional as F

# ---- Settings ---------------------------------------------------------------------------------

EPOCHS = 10  # passes over the training images
BATCH_SIZE = 64  # images per step
LEARNING_RATE = 0.1  # of SGD, at the first step; it falls to 0 along half a cosine
MOMENTUM = 0.9
WEIGHT_DECAY = 5e-4
WIDTH = 8  # channels of the first layers; the published network has 64
IMAGE_SIZE = 16  # pixels; the digits are 8×8 and are enlarged
CROP_PADDING = 1  # pixels by which an image is shifted at random, at most; 4 is usual for 32×32
SEED = 0  # of weights, order and shifts: the same seed trains the same network on the CPU
DEVICE = "auto"  # "cuda", "mps" or "cpu"; "auto" takes the first of these that is there
PRECISION = "fp32"  # or "bf16": matrix products and convolutions in 16 bits
WEIGHTS = "digits.pt"  # the trained network is written here

Batch = tuple[torch.Tensor, torch.Tensor]  # images (batch, 3, size, size) and labels (batch,)


# ---- Data -------------------------------------------------------------------------------------


def load_digits_as_images(size: int) -> tuple[Batch, Batch]:
    """Return images, uint8 (count, 3, size, size), with labels: to learn from, and held out.

    Every fifth image of each class is held out. The network wants three channels; digits are grey.
    """
    digits = load_digits()
    labels = torch.tensor(digits.target)
    images = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1)  # from 0 to 16
    images = images * (255 / 16)
    images = F.interpolate(images, size=size, mode="bilinear", align_corners=False)
    images = images.round().to(torch.uint8).repeat(1, 3, 1, 1)
    held_out = torch.zeros(len(labels), dtype=torch.bool)
    for label in labels.unique():
        held_out[(labels == label).nonzero().flatten()[4::5]] = True
    return (images[~held_out], labels[~held_out]), (images[held_out], labels[held_out])


def shifted(images: torch.Tensor, padding: int) -> torch.Tensor:
    """Return images (batch, channels, size, size), each shifted at random by `padding` at most.

    All of them at once and on their own device: one `gather` fetches every pixel from its place.
    """
    batch, channels, size, _ = images.shape
    width = size + 2 * padding
    padded = F.pad(images, (padding,) * 4).flatten(2)  # black around the image
    first = torch.randint(0, 2 * padding + 1, (2, batch, 1), device=images.device)
    rows, columns = first + torch.arange(size, device=images.device)  # each (batch, size)
    pixels = rows.unsqueeze(2) * width + columns.unsqueeze(1)  # (batch, size, size)
    return padded.gather(2, pixels.view(batch, 1, -1).expand(-1, channels, -1)).view_as(images)


# ---- Network ----------------------------------------------------------------------------------


class ResidualBlock(nn.Module):
    """Two 3×3 convolutions, and a shortcut around them."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride=stride, padding=1, bias=False)
        self.norm1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1, bias=False)
        self.norm2 = nn.BatchNorm2d(outputs)
        self.shortcut = nn.Sequential()  # nothing to do while the shape stays
        if stride != 1 or inputs != outputs:
            convolution = nn.Conv2d(inputs, outputs, 1, stride=stride, bias=False)
            self.shortcut = nn.Sequential(convolution, nn.BatchNorm2d(outputs))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Map (batch, inputs, s, s) to (batch, outputs, s/stride, s/stride)."""
        y = F.relu(self.norm1(self.conv1(x)))
        y = self.norm2(self.conv2(y))
        return F.relu(y + self.shortcut(x))


class ResNet18(nn.Module):
    """ResNet-18 for small images: a 3×3 stem of stride 1 and no pooling before the blocks."""

    def __init__(self, classes: int, width: int) -> None:
        super().__init__()
        stem = nn.Conv2d(3, width, 3, padding=1, bias=False)
        self.stem = nn.Sequential(stem, nn.BatchNorm2d(width), nn.ReLU())
        blocks, inputs = [], width
        for outputs, stride in [(width, 1), (2 * width, 2), (4 * width, 2), (8 * width, 2)]:
            blocks += [ResidualBlock(inputs, outputs, stride), ResidualBlock(outputs, outputs, 1)]
            inputs = outputs
        self.blocks = nn.Sequential(*blocks)
        self.head = nn.Linear(inputs, classes)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Map images (batch, 3, size, size) to class scores (batch, classes)."""
        features = self.blocks(self.stem(images))
        return self.head(features.mean(dim=(2, 3)))


# ---- Training ---------------------------------------------------------------------------------


def pick_device(wanted: str) -> torch.device:
    """Return the device to compute on: what is wanted, or the fastest one there is."""
    if wanted == "auto":
        wanted = "mps" if torch.backends.mps.is_available() else "cpu"
        wanted = "cuda" if torch.cuda.is_available() else wanted
    return torch.device(wanted)


@torch.no_grad()
def evaluate(model: nn.Module, images: torch.Tensor, labels: torch.Tensor) -> tuple[float, float]:
    """Return mean cross-entropy (nats) and accuracy (0 to 1) on normalised images."""
    model.eval()  # batch normalisation uses the statistics that training has gathered
    scores = model(images)
    model.train()
    accuracy = (scores.argmax(1) == labels).float().mean()
    return F.cross_entropy(scores, labels).item(), accuracy.item()


def train() -> tuple[nn.Module, list[float]]:
    """Train; return the network and the mean loss of each epoch."""
    device = pick_device(DEVICE)
    autocast = torch.autocast(device.type, dtype=torch.bfloat16, enabled=PRECISION == "bf16")
    (images, labels), (test_images, test_labels) = load_digits_as_images(IMAGE_SIZE)
    pixels = images[:, 0] / 255
    mean, std = pixels.mean(), pixels.std()
    images, labels = images.to(device), labels.to(device)  # all of them stay there
    test_inputs = ((test_images / 255 - mean) / std).to(device)
    test_labels = test_labels.to(device)
    mean, std = mean.to(device), std.to(device)

    torch.manual_seed(SEED)  # of the CPU and of every accelerator
    model = ResNet18(classes=10, width=WIDTH).to(device).train()
    optimizer = torch.optim.SGD(
        model.parameters(), lr=LEARNING_RATE, momentum=MOMENTUM, weight_decay=WEIGHT_DECAY
    )
    steps_per_epoch = len(labels) // BATCH_SIZE  # what does not fill a batch is left out
    total_steps = EPOCHS * steps_per_epoch
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: 0.5 * (1 + math.cos(math.pi * step / total_steps))
    )
    print(f"{len(labels):,} digits to learn from, {len(test_labels)} held out")
    print(f"on {device}, {PRECISION}, PyTorch {torch.__version__}")
    print("epoch  train loss  test loss  test acc")
    began, losses = time.perf_counter(), []
    for epoch in range(EPOCHS):
        generator = torch.Generator().manual_seed(SEED + 1_000_003 * epoch)
        order = torch.randperm(len(labels), generator=generator).to(device)
        epoch_losses = []
        for start in range(0, steps_per_epoch * BATCH_SIZE, BATCH_SIZE):
            chosen = order[start : start + BATCH_SIZE]
            inputs = shifted(images.index_select(0, chosen), CROP_PADDING).float() / 255
            inputs = (inputs - mean) / std
            with autocast:  # the forward pass and the loss; the backward pass belongs outside
                scores = model(inputs)
                loss = F.cross_entropy(scores, labels.index_select(0, chosen))
            loss.backward()
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
            epoch_losses.append(loss.detach())  # .item() would wait for the GPU in every step
        losses.append(torch.stack(epoch_losses).mean().item())
        if not math.isfinite(losses[-1]):
            raise SystemExit(f"the loss became {losses[-1]}; lower LEARNING_RATE")
        test_loss, accuracy = evaluate(model, test_inputs, test_labels)
        print(f"{epoch + 1:5d} {losses[-1]:11.4f} {test_loss:10.4f} {accuracy:9.2%}")
    print(f"{accuracy:.2%} of the held-out digits right, after {time.perf_counter() - began:.1f} s")
    return model, losses


if __name__ == "__main__":
    ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter).parse_args()
    network, _ = train()
    torch.save(network.state_dict(), WEIGHTS + ".tmp")
    Path(WEIGHTS + ".tmp").replace(WEIGHTS)  # in one go: nobody ever finds half a file
    print(f"weights: {WEIGHTS}; to use them: model.load_state_dict(torch.load({WEIGHTS!r}))")
# --8<-- [end:file]
