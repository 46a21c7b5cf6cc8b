"""Find and load the data set of `--data NAME|FOLDER`."""

from pathlib import Path

import torch
from torch.nn import functional as F

from examples.cifar_optimizers.cifar import CIFAR, download_cifar, find_cifar, load_cifar
from examples.cifar_optimizers.generated_images import generate_images
from examples.cifar_optimizers.image_data import ImageData
from examples.programs.command_line import expanded
from snippets.errors import UsageError

NAMES = ("digits", "synthetic", *CIFAR)
DATA_ROOT = Path("data")  # the folder of `--data cifar10` and of `--download`


def find_data(text: str) -> tuple[str, Path | None]:
    """Return name and folder of the data set; the folder is None for built-in ones. Raises UsageError."""
    if text in CIFAR:
        return text, DATA_ROOT / CIFAR[text].folder
    if text in NAMES:
        return text, None
    folder = expanded(text)
    if not folder.is_dir():
        raise UsageError(f"--data {text}: neither one of {', '.join(NAMES)} nor an existing folder")
    return find_cifar(folder)


def load_data(text: str, image_size: int, *, download: bool, check: bool) -> ImageData:
    """Return the images of `--data`; `check` verifies CIFAR's checksums. Raises UsageError."""
    name, folder = find_data(text)
    if download and text not in CIFAR:
        raise UsageError(f"--download fetches {' or '.join(CIFAR)}, not {text}; name one of them with --data")
    if folder is None:
        return load_digits(image_size) if name == "digits" else generate_images(image_size)
    if download:
        print(f"downloading {name} to {DATA_ROOT}/ with torchvision (170 MB, once)", flush=True)
        download_cifar(name, DATA_ROOT)
    if not folder.is_dir():
        raise UsageError(f"--data {text}: there is no folder {folder}; add --download, or use --data FOLDER")
    return load_cifar(name, folder, check=check)


def load_digits(image_size: int) -> ImageData:
    """Return the digits, enlarged to `image_size` × `image_size` and repeated for three channels.

    Every fifth image of each class is held out, for every seed. The same people may have written digits of
    both parts, since the data do not name the writers. Images are not flipped: a mirrored digit is wrong.
    """
    from sklearn.datasets import load_digits as read  # only this data set needs scikit-learn

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
