"""Pictures in a folder per class: all in one folder, or below train/ and test/ (or val/)."""

import os
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import torch
from tqdm import tqdm

from examples.cifar_optimizers.image_data import ImageData, channel_statistics, every_fifth_of_each_class
from examples.cifar_optimizers.pictures import APPLE, ENDINGS, read_picture
from examples.programs.array_files import check_memory
from snippets.errors import UsageError

TRAIN = ("train", "training")
HELD_OUT = ("test", "testing", "val", "valid", "validation")  # the first that is there is held out
MOST_CLASSES = 10_000


@dataclass
class Listing:
    """The pictures of a folder by class, in order, and what else is there."""

    classes: dict[str, list[Path]] = field(default_factory=dict)
    others: list[Path] = field(default_factory=list)  # files that are no pictures by their names


def subfolders(folder: Path) -> list[Path]:
    """Return the folders in `folder` by name, without hidden ones. Raises UsageError."""
    try:
        return sorted(path for path in folder.iterdir() if path.is_dir() and path.name[0] != ".")
    except OSError as error:
        raise UsageError(f"cannot read {folder}: {error.strerror}") from None


def files_in(folder: Path) -> Iterator[Path]:
    """Yield the files in `folder` and below, in the order of their names, without hidden ones."""
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name[0] != ".")
        yield from (Path(place, name) for name in sorted(names) if name[0] != ".")


def is_picture(path: Path) -> bool:
    """Return whether the name of a file ends like that of a picture. Raises UsageError for Apple's format."""
    if path.suffix.lower() in APPLE:
        raise UsageError(f"{path} is a HEIC photo, which Pillow cannot read; export them as JPEG or PNG")
    return path.suffix.lower() in ENDINGS


def list_classes(folder: Path) -> Listing:
    """Return the pictures in the folders of `folder`, one per class. Raises UsageError."""
    listing = Listing()
    for place in subfolders(folder):
        pictures: list[Path] = []
        for path in files_in(place):
            (pictures if is_picture(path) else listing.others).append(path)
        if pictures:
            listing.classes[place.name] = pictures
    listing.others += [path for path in files_beside(folder) if not is_picture(path)]
    return listing


def files_beside(folder: Path) -> list[Path]:
    """Return the files directly in `folder`, without hidden ones."""
    return sorted(path for path in folder.iterdir() if path.is_file() and path.name[0] != ".")


def find_parts(folder: Path) -> dict[str, Path]:
    """Return the folders of the parts by name, the one to learn from first; none where there are no parts.

    Folders are parts when one of them is called train and has folders itself; otherwise they are classes.
    """
    found = {path.name.lower(): path for path in subfolders(folder)}
    train = next((found[name] for name in TRAIN if name in found), None)
    if train is None or not subfolders(train):
        return {}
    return {train.name: train} | {found[name].name: found[name] for name in HELD_OUT if name in found}


def check_classes(folder: Path, listing: Listing) -> None:
    """Raise UsageError unless there are pictures of at least two classes."""
    if len(listing.classes) > MOST_CLASSES:
        raise UsageError(
            f"{folder} has {len(listing.classes):,} folders, and {MOST_CLASSES:,} classes at most"
        )
    if len(listing.classes) < 2:
        beside = sum(map(is_picture, files_beside(folder)))
        found = (
            f"pictures of one class ({next(iter(listing.classes))})"
            if listing.classes
            else "no pictures in folders"
        )
        what = f"{beside:,} pictures side by side and {found}" if beside else found
        raise UsageError(
            f"--data {folder} holds {what}; put the pictures of each class into a folder of its own, and "
            "name the folder above (or an official CIFAR folder, or MNIST's four files)"
        )


@dataclass
class Part:
    """The pictures of a part, and the sizes that they have in their files."""

    images: torch.Tensor  # uint8 (count, 3, size, size)
    labels: torch.Tensor  # int64 (count,)
    sizes: Counter[tuple[int, int]]


def read_part(name: str, files: list[tuple[Path, int]], size: int) -> Part:
    """Return the pictures of (path, class) pairs. Raises UsageError, which names an unreadable file."""
    part = Part(
        torch.empty(len(files), 3, size, size, dtype=torch.uint8),
        torch.tensor([label for _, label in files], dtype=torch.int64),
        Counter(),
    )
    on_terminal = {"disable": None, "leave": False, "file": sys.stdout}  # without a terminal: no bar
    for index, (path, _) in enumerate(tqdm(files, desc=name, unit="picture", **on_terminal)):
        picture = read_picture(path, size)
        part.images[index] = picture.pixels
        part.sizes[picture.width, picture.height] += 1
    return part


def split(folder: Path) -> tuple[list[str], dict[str, list[tuple[Path, int]]], list[str]]:
    """Return class names, (path, class) pairs of both parts by name, and notes. Raises UsageError."""
    parts = find_parts(folder)
    train, *others = parts.values() or [folder]
    listing = list_classes(train)
    check_classes(train, listing)
    names = sorted(listing.classes)
    left_out = list(listing.others)
    known = {name: number for number, name in enumerate(names)}
    learned = [(path, known[name]) for name in names for path in listing.classes[name]]
    notes = []
    if others:
        held_out = list_classes(others[0])
        left_out += held_out.others
        if unknown := sorted(held_out.classes.keys() - known.keys()):
            raise UsageError(f"{others[0] / unknown[0]} is a class that {train} does not have")
        pairs = [(path, known[name]) for name in held_out.classes for path in held_out.classes[name]]
        found = {train.name: learned, others[0].name: pairs}
        notes += [f"{path.name}/ is not used" for path in others[1:]]
    else:
        mask = every_fifth_of_each_class(torch.tensor([label for _, label in learned])).tolist()
        found = {
            "to learn from": [pair for pair, out in zip(learned, mask, strict=True) if not out],
            "held out": [pair for pair, out in zip(learned, mask, strict=True) if out],
        }
        notes.append("every fifth picture of each class is held out")
    if not all(found.values()):
        empty = next(name for name, pairs in found.items() if not pairs)
        raise UsageError(f"{folder} has no picture that is {empty}; add pictures, five per class at least")
    if left_out:
        plural = "s" if len(left_out) > 1 else ""
        notes.append(f"{len(left_out):,} other file{plural} left out ({left_out[0].name})")
    return names, found, notes


def load_pictures(folder: Path, size: int) -> ImageData:
    """Return the pictures of a folder as `size` × `size` images. Raises UsageError."""
    names, found, notes = split(folder)
    count = sum(map(len, found.values()))
    check_memory(folder, f"its {count:,} pictures take", 3 * count * size * size)
    train, test = (read_part(name, files, size) for name, files in found.items())
    mean, std = channel_statistics(train.images)
    return ImageData(
        name="pictures",
        source=str(folder),
        classes=len(names),
        train_images=train.images,
        train_labels=train.labels,
        test_images=test.images,
        test_labels=test.labels,
        mean=mean,
        std=std,
        crop_padding=max(1, size // 16),
        class_names=tuple(names),
        sizes=train.sizes + test.sizes,
        notes=tuple(notes),
    )
