"""Random crops and flips of a whole batch at once, on the device that holds it."""

import torch
from torch.nn import functional as F

from examples.cifar_optimizers.image_data import ImageData


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
