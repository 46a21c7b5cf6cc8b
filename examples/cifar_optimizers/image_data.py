"""What a data set of this example consists of."""

from dataclasses import dataclass

import torch

from snippets.framework.tensor_checksum import tensors_crc32


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
