"""1,797 real handwritten digits that scikit-learn carries: data that needs no download.

Source: E. Alpaydin, C. Kaynak, "Optical Recognition of Handwritten Digits", UCI, 1998; the images of
`sklearn.datasets.load_digits`, 8×8 pixels with values 0 to 16.
"""

import torch
from torch.nn import functional as F

from examples.cifar_optimizers.image_data import ImageData


def load_digits(image_size: int) -> ImageData:
    """Return the digits, enlarged to `image_size` × `image_size` and repeated for three channels.

    Every fifth image of each class is held out, whatever the seed. The same people wrote both parts: the data
    do not say who wrote what. No flips: a mirrored digit is another sign.
    """
    from sklearn.datasets import load_digits as read  # here, because only this data set needs scikit-learn

    raw = read()
    labels = torch.tensor(raw.target)
    images = torch.tensor(raw.images, dtype=torch.float32).unsqueeze(1) * (255 / 16)
    images = F.interpolate(images, size=image_size, mode="bilinear", align_corners=False)
    images = images.round().to(torch.uint8).repeat(1, 3, 1, 1)
    held_out = every_fifth_of_each_class(labels)
    pixels = images[~held_out, 0] / 255
    return ImageData(
        name="digits",
        source="handwritten digits carried by scikit-learn",
        classes=10,
        train_images=images[~held_out],
        train_labels=labels[~held_out],
        test_images=images[held_out],
        test_labels=labels[held_out],
        mean=pixels.mean().expand(3, 1, 1),
        std=pixels.std().expand(3, 1, 1),
        crop_padding=max(1, image_size // 16),  # 1 at 16×16; 2 already costs accuracy
    )


def every_fifth_of_each_class(labels: torch.Tensor) -> torch.Tensor:
    """Return a mask (count,) that is true for the 5th, 10th, 15th … image of each class."""
    mask = torch.zeros(len(labels), dtype=torch.bool)
    for label in labels.unique():
        members = (labels == label).nonzero().flatten()
        mask[members[4::5]] = True
    return mask
