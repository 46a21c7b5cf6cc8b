"""Random crops and flips of a whole batch at once, on the device that holds it."""

import torch
from torch.nn import functional as F

from examples.cifar_optimizers.image_data import ImageData


# --8<-- [start:augmentation]
def random_crop(images: torch.Tensor, padding: int) -> torch.Tensor:
    """Shift each image (batch, channels, size, size) by up to `padding` pixels, filling with black (0)."""
    batch, channels, size, _ = images.shape
    padded = F.pad(images, (padding,) * 4)
    first = torch.randint(0, 2 * padding + 1, (2, batch, 1), device=images.device)
    rows, columns = first + torch.arange(size, device=images.device)  # each (batch, size)
    width = size + 2 * padding
    pixels = rows.unsqueeze(2) * width + columns.unsqueeze(1)  # (batch, size, size): places in a padded channel
    pixels = pixels.view(batch, 1, -1).expand(-1, channels, -1)
    return padded.flatten(2).gather(2, pixels).view_as(images)


def random_flip(images: torch.Tensor) -> torch.Tensor:
    """Mirror about half of the images (batch, channels, size, size) left to right."""
    mirrored = torch.rand(len(images), 1, 1, 1, device=images.device) < 0.5
    return torch.where(mirrored, images.flip(3), images)


def network_input(data: ImageData, images: torch.Tensor, *, augment: bool) -> torch.Tensor:
    """Return images of `data` as the network wants them: float32, augmented in training, normalised."""
    if augment and data.crop_padding:
        images = random_crop(images, data.crop_padding)
    if augment and data.flip:
        images = random_flip(images)
    if images.dtype == torch.uint8:  # after the crop: until here a pixel takes one byte instead of four
        images = images.float().div_(255)
    return (images - data.mean).div_(data.std)


# --8<-- [end:augmentation]
