"""What a data set of this example consists of."""

import math
from dataclasses import dataclass
from fractions import Fraction

import torch
from torch.nn import functional as F
from torch.utils.data import Dataset

from snippets.checkpoint_content import tensors_crc32


@dataclass
class ImageData:
    """Training and held-out images with labels, and what a network should know about them.

    Images are (count, 3, size, size): uint8 from 0 to 255, or float32. Labels are int64, 0 to classes - 1.
    """

    name: str
    source: str  # in words, for the user
    classes: int
    train_images: torch.Tensor
    train_labels: torch.Tensor
    test_images: torch.Tensor
    test_labels: torch.Tensor
    mean: torch.Tensor  # (3, 1, 1): of the training images, per channel, uint8 counting as 0 to 1
    std: torch.Tensor  # (3, 1, 1)
    crop_padding: int = 0  # random crops shift an image by up to this many pixels; 0: no crops
    flip: bool = False  # whether a mirror image still belongs to its class
    label_smoothing: float = 0.0
    best_accuracy: float | None = None  # what no network can beat on average, where it is known

    def to(self, device: torch.device) -> "ImageData":
        """Return the data with all images and labels copied to `device`."""
        tensors = {name: value.to(device) for name, value in vars(self).items() if torch.is_tensor(value)}
        return ImageData(**(vars(self) | tensors))

    def fingerprint(self) -> int:
        """Return a CRC-32 of labels and uint8 images: a resumed run must find the data that it began with.

        Generated float images are left out: their last bits depend on the machine, where a run may move.
        """
        tensors = self.train_labels, self.test_labels, self.train_images, self.test_images
        return tensors_crc32(tensor for tensor in tensors if not tensor.is_floating_point())


def exact_share(share: float, count: int) -> int:
    """Return ⌊share · count⌋ for the share as written: 29 for 0.29 of 100, where floats would give 28."""
    return math.floor(Fraction(str(share)) * count)


# --8<-- [start:label_noise]
def redraw_labels(
    labels: torch.Tensor, share: float, classes: int, generator: torch.Generator
) -> torch.Tensor:
    """Return a copy of `labels` (count,) in which exactly ⌊share · count⌋ are wrong.

    Which ones is random; each becomes one of the other classes, all equally likely.
    """
    chosen = torch.randperm(len(labels), generator=generator)[: exact_share(share, len(labels))]
    offsets = torch.randint(1, classes, (len(chosen),), generator=generator)  # never 0: never the same class
    noisy = labels.clone()
    noisy[chosen] = (labels[chosen] + offsets) % classes
    return noisy


def noise_floor(share: float, classes: int, smoothing: float = 0.0) -> tuple[float, float]:
    """Return the best accuracy and the least cross-entropy (nats) that noisy labels allow on average.

    The least cross-entropy is the entropy of a label given its image; `smoothing` is label smoothing.
    A training loss below it means that the network has memorised wrong labels.
    """
    own = (1 - smoothing) * (1 - share) + smoothing / classes
    other = (1 - own) / (classes - 1)
    entropy = -sum(p * math.log(p) for p in [own] + [other] * (classes - 1) if p > 0)
    return 1 - share, entropy


# --8<-- [end:label_noise]
def keep_fraction(labels: torch.Tensor, fraction: float, generator: torch.Generator) -> torch.Tensor:
    """Return the sorted indices of a random `fraction` of each class: rounded, at least one image."""
    kept = []
    for label in labels.unique():
        members = (labels == label).nonzero().flatten()
        count = max(1, round(fraction * len(members)))
        kept.append(members[torch.randperm(len(members), generator=generator)[:count]])
    return torch.cat(kept).sort().values


# --8<-- [start:augmentation]
def crop_and_flip(images: torch.Tensor, padding: int, *, flip: bool) -> torch.Tensor:
    """Shift each image (batch, channels, size, size) by up to `padding` pixels, and mirror half of them.

    What a shift leaves empty becomes black (0). Shift and mirror only say which pixel goes where, so one
    `gather` does both: the work is moving memory, and each further pass over the images would cost as much.
    """
    batch, channels, size, _ = images.shape
    width = size + 2 * padding
    padded = F.pad(images, (padding,) * 4).flatten(2)
    first = torch.randint(0, 2 * padding + 1, (2, batch, 1), device=images.device)
    rows, columns = first + torch.arange(size, device=images.device)  # each (batch, size)
    if flip:
        mirrored = torch.rand(batch, 1, device=images.device) < 0.5
        columns = torch.where(mirrored, columns.flip(1), columns)
    pixels = rows.unsqueeze(2) * width + columns.unsqueeze(
        1
    )  # (batch, size, size): places in a padded channel
    return padded.gather(2, pixels.view(batch, 1, -1).expand(-1, channels, -1)).view_as(images)


def network_input(data: ImageData, images: torch.Tensor, *, augment: bool) -> torch.Tensor:
    """Return images of `data` as the network wants them: float32, augmented in training, normalised."""
    if augment and (data.crop_padding or data.flip):
        images = crop_and_flip(images, data.crop_padding, flip=data.flip)
    if images.dtype == torch.uint8:  # after the crop: until here a pixel takes one byte instead of four
        images = images.float().div_(255)
    return (images - data.mean).div_(data.std)


# --8<-- [end:augmentation]


# --8<-- [start:augmented_images]
class AugmentedImages(Dataset):
    """The training images with their labels, for `snippets.data_loading.EpochLoader`.

    They stay bytes, so that a worker sends a quarter of what floats would take. And they lie in one tensor,
    which all workers share: a list of arrays would be copied for each of them.
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


# --8<-- [end:augmented_images]
