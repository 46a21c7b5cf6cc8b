"""The images of a data set, their labels, and augmentation."""

import math
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import Dataset

from snippets.untrusted_checkpoints import tensors_crc32


@dataclass
class ImageData:
    """Training and held-out images with labels, and the properties of the data set.

    Images are (count, 3, size, size): uint8 from 0 to 255, or float32. Labels are int64, 0 to classes - 1.
    """

    name: str
    source: str  # a description for the user
    classes: int
    train_images: torch.Tensor
    train_labels: torch.Tensor
    test_images: torch.Tensor
    test_labels: torch.Tensor
    mean: torch.Tensor  # (3, 1, 1): of the training images, per channel, with uint8 scaled to 0 to 1
    std: torch.Tensor  # (3, 1, 1)
    crop_padding: int = 0  # random crops shift an image by up to this many pixels; 0: no crops
    flip: bool = False  # whether a mirrored image keeps its class
    label_smoothing: float = 0.0
    best_accuracy: float | None = None  # the best possible on average, if known
    class_names: tuple[str, ...] | None = None  # None: classes have only numbers
    sizes: Counter[tuple[int, int]] | None = (
        None  # width and height in the user's files; None: nothing resized
    )
    notes: tuple[str, ...] = ()  # what was done with the user's files

    def to(self, device: torch.device) -> "ImageData":
        """Return the data with all images and labels copied to `device`."""
        tensors = {name: value.to(device) for name, value in vars(self).items() if torch.is_tensor(value)}
        return ImageData(**(vars(self) | tensors))

    def fingerprint(self) -> int:
        """Return a CRC-32 of labels and uint8 images, with which a resumed run checks its data.

        Generated float images are left out, because their last bits depend on the machine.
        """
        tensors = self.train_labels, self.test_labels, self.train_images, self.test_images
        return tensors_crc32(tensor for tensor in tensors if not tensor.is_floating_point())


def channel_statistics(images: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return mean and standard deviation of each channel of uint8 images, scaled to 0 to 1, each (3, 1, 1).

    They are computed from the counts of the 256 values, exactly and without a copy of the images in float32.
    A channel with one value gets the deviation of one step, so that nothing is divided by 0.
    """
    values = torch.arange(256, dtype=torch.float64) / 255
    shares = torch.stack([torch.bincount(images[:, c].flatten(), minlength=256) for c in range(3)]).double()
    shares /= shares.sum(1, keepdim=True)
    mean = shares @ values
    deviation = (shares * (values - mean.unsqueeze(1)).square()).sum(1).sqrt().clamp(min=1 / 255)
    return mean.float().view(3, 1, 1), deviation.float().view(3, 1, 1)


def every_fifth_of_each_class(labels: torch.Tensor) -> torch.Tensor:
    """Return a mask (count,) that is true for the 5th, 10th, 15th … image of each class."""
    mask = torch.zeros(len(labels), dtype=torch.bool)
    for label in labels.unique():
        members = (labels == label).nonzero().flatten()
        mask[members[4::5]] = True
    return mask


def exact_share(share: float, count: int) -> int:
    """Return ⌊share · count⌋ in decimal arithmetic: 29 for 0.29 of 100, where floats would give 28."""
    return math.floor(Fraction(str(share)) * count)


# --8<-- [start:label_noise]
def redraw_labels(
    labels: torch.Tensor, share: float, classes: int, generator: torch.Generator
) -> torch.Tensor:
    """Return a copy of `labels` (count,) in which exactly ⌊share · count⌋ are wrong.

    The changed labels are random; each becomes one of the other classes with equal probability.
    """
    chosen = torch.randperm(len(labels), generator=generator)[: exact_share(share, len(labels))]
    offsets = torch.randint(1, classes, (len(chosen),), generator=generator)  # not 0: another class
    noisy = labels.clone()
    noisy[chosen] = (labels[chosen] + offsets) % classes
    return noisy


def noise_floor(share: float, classes: int, smoothing: float = 0.0) -> tuple[float, float]:
    """Return the highest accuracy and the lowest cross-entropy (nats) possible on average with noisy labels.

    The lowest cross-entropy is the entropy of a label given its image; `smoothing` is label smoothing.
    A training loss below it means that the network has memorised wrong labels.
    """
    own = (1 - smoothing) * (1 - share) + smoothing / classes
    other = (1 - own) / (classes - 1)
    entropy = -sum(p * math.log(p) for p in [own] + [other] * (classes - 1) if p > 0)
    return 1 - share, entropy


# --8<-- [end:label_noise]
def keep_fraction(labels: torch.Tensor, fraction: float, generator: torch.Generator) -> torch.Tensor:
    """Return the sorted indices of a random `fraction` of each class, rounded, with at least one image."""
    kept = []
    for label in labels.unique():
        members = (labels == label).nonzero().flatten()
        count = max(1, round(fraction * len(members)))
        kept.append(members[torch.randperm(len(members), generator=generator)[:count]])
    return torch.cat(kept).sort().values


# --8<-- [start:augmentation]
def draw_moves(data: ImageData, images: torch.Tensor) -> torch.Tensor:
    """Return rows and columns (batch, 2, size) of padded images that become those of `images`, at random.

    They shift an image by up to `crop_padding` pixels and mirror half of the images, as `data` says.
    """
    batch, device, padding = len(images), images.device, data.crop_padding
    pixels = torch.arange(images.shape[-1], device=device)
    rows, columns = (torch.randint(0, 2 * padding + 1, (batch, 1), device=device) + pixels for _ in range(2))
    if data.flip:
        mirrored = torch.rand(batch, 1, device=device) < 0.5
        columns = torch.where(mirrored, columns.flip(1), columns)
    return torch.stack([rows, columns], 1)


def moved(images: torch.Tensor, moves: torch.Tensor, padding: int) -> torch.Tensor:
    """Return images (batch, channels, size, size), with `moves` (batch, 2, size) of the padded ones.

    Pixels outside the image are black (0). Shift and mirror both permute pixels, so one `gather` does both:
    moving memory is the whole work, and a second pass over the images would double it.
    """
    rows, columns = moves.unbind(1)
    width = images.shape[-1] + 2 * padding
    pixels = rows.unsqueeze(2) * width + columns.unsqueeze(1)  # (batch, size, size): in a padded channel
    pixels = pixels.flatten(1).unsqueeze(1).expand(-1, images.shape[1], -1)
    return F.pad(images, (padding,) * 4).flatten(2).gather(2, pixels).view_as(images)


def normalised(images: torch.Tensor, mean: torch.Tensor, std: torch.Tensor) -> torch.Tensor:
    """Return images, uint8 from 0 to 255 or float32, as network input. Prediction calls it as well."""
    if images.dtype == torch.uint8:
        images = images.float().div_(255)
    return (images - mean).div_(std)


class FromPixels(nn.Module):
    """A network with what happens to its images first: they are moved and normalised. All compiles as one."""

    def __init__(self, network: nn.Module, data: ImageData) -> None:
        super().__init__()
        self.network, self.padding, self.mean, self.std = network, data.crop_padding, data.mean, data.std

    def forward(self, images: torch.Tensor, moves: torch.Tensor | None = None) -> torch.Tensor:
        """Return the output for images (batch, 3, size, size), uint8 or float32, and perhaps their moves."""
        if moves is not None:  # before they become float32: so a move copies one byte per pixel
            images = moved(images, moves, self.padding)
        return self.network(normalised(images, self.mean, self.std))


# --8<-- [end:augmentation]


class AugmentedImages(Dataset):
    """The training images with their labels, for `snippets.data_loading.EpochLoader`.

    They stay uint8, so that a worker sends a quarter of the bytes of float32. They are in one tensor, which
    all workers share, whereas a list of arrays would be copied to each worker.
    """

    def __init__(self, data: ImageData) -> None:
        """Take the training images of `data`, which is on the CPU."""
        self.images, self.labels = data.train_images, data.train_labels
        self.padding, self.flip = data.crop_padding, data.flip

    def __len__(self) -> int:
        """Return the number of images."""
        return len(self.labels)

    def __getitem__(self, index: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Return an image (3, size, size), cropped and flipped at random, and its label ()."""
        size = self.images.shape[-1]
        top, left = torch.randint(0, 2 * self.padding + 1, (2,)).tolist()
        image = F.pad(self.images[index], (self.padding,) * 4)[:, top : top + size, left : left + size]
        if self.flip and torch.rand(()) < 0.5:
            image = image.flip(2)
        return image, self.labels[index]
