"""Training images that worker processes crop and flip one by one, as most guides do it."""

import torch
from torch.nn import functional as F
from torch.utils.data import Dataset

from examples.cifar_optimizers.image_data import ImageData


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
