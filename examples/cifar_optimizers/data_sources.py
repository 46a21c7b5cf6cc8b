"""Find and load the data set of `--data NAME|FOLDER|FILE`."""

from pathlib import Path

import torch
from torch.nn import functional as F

from examples.cifar_optimizers.array_sets import holds_idx, load_idx, load_npz
from examples.cifar_optimizers.cifar import CIFAR, download_cifar, find_cifar, load_cifar
from examples.cifar_optimizers.cifar_archive import archived_set, is_packed
from examples.cifar_optimizers.generated_images import generate_images
from examples.cifar_optimizers.image_data import ImageData, every_fifth_of_each_class
from examples.cifar_optimizers.picture_folders import load_pictures
from examples.cifar_optimizers.table_files import cure_for, is_table
from examples.programs.command_line import expanded
from snippets.errors import UsageError

NAMES = ("digits", "synthetic", *CIFAR)
DATA_ROOT = Path("data")  # the folder of `--data cifar10` and of `--download`


def find_data(text: str) -> tuple[str, Path | None]:
    """Return name and place of the data set; the place is None for built-in ones. Raises UsageError."""
    if text in CIFAR:
        return text, DATA_ROOT / CIFAR[text].folder
    if text in NAMES:
        return text, None
    place = expanded(text)
    if not place.exists():
        raise UsageError(f"--data {text}: neither one of {', '.join(NAMES)} nor an existing folder or file")
    return name_of_file(place) if place.is_file() else name_of_folder(place), place


def name_of_folder(folder: Path) -> str:
    """Return the name of the set in a folder. Raises UsageError when it holds both CIFAR sets."""
    if found := find_cifar(folder):
        return found[0]
    return "idx" if holds_idx(folder) else "pictures"


def name_of_file(file: Path) -> str:
    """Return the name of the set in a file. Raises UsageError for a file that is not read."""
    if file.suffix.lower() == ".npz":
        return "npz"
    if is_packed(file):
        return archived_set(file)
    if is_table(file):
        train = file.parent / "train"
        raise UsageError(f"--data: {cure_for(file, train if train.is_dir() else file.parent, file.parent)}")
    cure = "unpack it and name the folder" if file.suffix.lower() == ".zip" else "name a folder of pictures"
    raise UsageError(f"--data {file} is no .npz file and no CIFAR archive (.tar.gz); {cure}")


def load_data(text: str, image_size: int, *, download: bool, check: bool) -> ImageData:
    """Return the images of `--data`; `check` verifies CIFAR's checksums. Raises UsageError."""
    name, place = find_data(text)
    if download and text not in CIFAR:
        raise UsageError(f"--download fetches {' or '.join(CIFAR)}, not {text}; name one of them with --data")
    if place is None:
        return load_digits(image_size) if name == "digits" else generate_images(image_size)
    if download:
        print(f"downloading {name} to {DATA_ROOT}/ with torchvision (170 MB, once)", flush=True)
        download_cifar(name, DATA_ROOT)
    if not place.exists():
        raise UsageError(f"--data {text}: there is no folder {place}; add --download, or use --data FOLDER")
    if name in CIFAR:
        folder = find_cifar(place)
        return load_cifar(name, folder[1] if folder else place, check=check)
    return {"npz": load_npz, "idx": load_idx, "pictures": load_pictures}[name](place, image_size)


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
        class_names=tuple("0123456789"),
    )
