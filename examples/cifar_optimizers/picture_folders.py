"""Pictures in a folder per class: all in one folder, or below train/ and test/ (or val/)."""

import os
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import torch
from tqdm import tqdm

from examples.cifar_optimizers.image_data import ImageData, channel_statistics, every_fifth_of_each_class
from examples.cifar_optimizers.pictures import APPLE, ENDINGS, UnreadablePicture, in_words, read_picture
from examples.cifar_optimizers.table_files import cure_for, table_of_labels
from examples.programs.array_files import check_memory
from snippets.errors import UsageError

TRAIN = ("train", "training")
HELD_OUT = ("test", "testing", "val", "valid", "validation")  # the first that is there is held out
MOST_CLASSES = 10_000


@dataclass
class Listing:
    """The pictures of a folder by class, in order, and what else is there."""

    classes: dict[str, list[Path]] = field(default_factory=dict)
    others: list[Path] = field(default_factory=list)  # files in no class, or no pictures by their names
    empty: list[str] = field(default_factory=list)  # folders without a picture

    def notes(self) -> Iterator[str]:
        """Yield what is left out."""
        if self.others:
            plural = "s" if len(self.others) > 1 else ""
            yield f"{len(self.others):,} other file{plural} left out ({self.others[0].name})"
        if self.empty:
            yield f"no picture in {', '.join(self.empty[:5])}{', …' if len(self.empty) > 5 else ''}"


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
        else:
            listing.empty.append(place.name)
    listing.others += files_beside(folder)
    return listing


def files_beside(folder: Path) -> list[Path]:
    """Return the files directly in `folder`, without hidden ones."""
    return sorted(path for path in folder.iterdir() if path.is_file() and path.name[0] != ".")


def find_parts(folder: Path) -> dict[str, Path]:
    """Return the folders of the parts by name, the one to learn from first; none where there are no parts.

    Folders are parts when one of them is called train and has folders itself; otherwise they are classes.
    Raises UsageError for folders that have the names of parts, but not their content.
    """
    places = subfolders(folder)
    found = {path.name.lower(): path for path in places}
    train = next((found[name] for name in TRAIN if name in found), None)
    if train is None or not subfolders(train):
        check_no_parts(folder, places)
        return {}
    return {train.name: train} | {found[name].name: found[name] for name in HELD_OUT if name in found}


def beside_parts(folder: Path, parts: dict[str, Path]) -> Iterator[str]:
    """Yield a note that names the folders beside those of the parts, which may be classes by mistake."""
    names = [f"{path.name}/" for path in subfolders(folder) if path.name not in parts]
    if parts and names:
        more = ", …" if len(names) > 5 else ""
        yield f"not used beside {next(iter(parts))}/: {', '.join(names[:5])}{more}"


def check_no_parts(folder: Path, places: list[Path]) -> None:
    """Raise UsageError for names such as seg_train and seg_test, which would become two classes."""
    words = {path: set(re.split(r"[^a-z]+", path.name.lower())) for path in places}
    train, held_out = (
        [path for path in places if words[path].intersection(names)] for names in (TRAIN, HELD_OUT)
    )
    if not train or not held_out:
        return
    names = f"{train[0].name}/ and {held_out[0].name}/ are parts by their names, not classes"
    if subfolders(train[0]):
        raise UsageError(f"--data {folder}: {names}; rename them train/ and test/")
    if table := table_of_labels(folder):
        raise UsageError(f"--data {folder}: {names}; {cure_for(table, train[0], folder)}")
    raise UsageError(f"--data {folder}: {names}; put the pictures of each class into {train[0] / 'CLASS'}")


def check_classes(folder: Path, listing: Listing) -> None:
    """Raise UsageError unless there are pictures of at least two classes."""
    if len(listing.classes) > MOST_CLASSES:
        raise UsageError(
            f"{folder} has {len(listing.classes):,} folders, and {MOST_CLASSES:,} classes at most"
        )
    if len(listing.classes) < 2:
        check_level(folder, listing)
        if table := table_of_labels(folder):
            raise UsageError(f"--data {folder}: {cure_for(table, folder, folder)}")
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


def check_level(folder: Path, listing: Listing) -> None:
    """Raise UsageError when the only class has several folders itself: `folder` is one level too high."""
    for name, pictures in listing.classes.items():
        below = sorted(
            {path.relative_to(folder / name).parts[0] for path in pictures if path.parent.name != name}
        )
        if len(below) > 1:
            raise UsageError(
                f"--data {folder} has one folder, {name}, with the folders {', '.join(below[:5])}; "
                f"name {folder / name}, or move these folders into {folder}"
            )


@dataclass
class Part:
    """The pictures of a part, and the sizes that they have in their files."""

    images: torch.Tensor  # uint8 (count, 3, size, size)
    labels: torch.Tensor  # int64 (count,)
    sizes: Counter[tuple[int, int]]


def read_part(
    name: str, files: list[tuple[Path, int]], size: int, unreadable: list[UnreadablePicture]
) -> Part:
    """Return the pictures of (path, class) pairs; those that cannot be read are appended to `unreadable`."""
    images = torch.empty(len(files), 3, size, size, dtype=torch.uint8)
    labels: list[int] = []
    sizes: Counter[tuple[int, int]] = Counter()
    on_terminal = {"disable": None, "leave": False, "file": sys.stdout}  # without a terminal: no bar
    for path, label in tqdm(files, desc=name, unit="picture", **on_terminal):
        try:
            picture = read_picture(path, size)
        except UnreadablePicture as error:
            unreadable.append(error)
            continue
        images[len(labels)] = picture.pixels
        labels.append(label)
        sizes[picture.width, picture.height] += 1
    return Part(images[: len(labels)], torch.tensor(labels, dtype=torch.int64), sizes)


def choose_held_out(folder: Path, places: list[Path], known: set[str]) -> tuple[Path | None, list[str]]:
    """Return the first part that has folders of classes, and notes about the others. Raises UsageError."""
    chosen, notes = None, []
    for place in places:
        classes = set(list_classes(place).classes)
        if chosen:
            notes.append(f"{place.name}/ is not used")
        elif classes - {"images"} or classes & known:
            chosen = place
        elif table := table_of_labels(place):
            raise UsageError(f"--data {folder}: {cure_for(table, place, folder)}")
        else:
            notes.append(f"{place.name}/ has no folders of classes and is not used")
    return chosen, notes


def split(folder: Path) -> tuple[list[str], dict[str, list[tuple[Path, int]]], list[str]]:
    """Return class names, (path, class) pairs of both parts by name, and notes. Raises UsageError."""
    parts = find_parts(folder)
    train, *others = parts.values() or [folder]
    listing = list_classes(train)
    check_classes(train, listing)
    names = sorted(listing.classes)
    known = {name: number for number, name in enumerate(names)}
    learned = [(path, known[name]) for name in names for path in listing.classes[name]]
    place, notes = choose_held_out(folder, others, set(names))
    if place:
        held_out = list_classes(place)
        listing.others += held_out.others
        if unknown := sorted(held_out.classes.keys() - known.keys()):
            raise UsageError(
                f"{place / unknown[0]} is a class that {train} does not have; rename it, or remove it"
            )
        pairs = [(path, known[name]) for name in held_out.classes for path in held_out.classes[name]]
        found = {train.name: learned, place.name: pairs}
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
    return names, found, [*beside_parts(folder, parts), *notes, *listing.notes()]


def check_readable(names: list[str], train: Part, test: Part, unreadable: list[UnreadablePicture]) -> None:
    """Raise UsageError when a class has no picture to learn from, or none is held out."""
    counts = train.labels.bincount(minlength=len(names)).tolist()
    lost = [name for name, count in zip(names, counts, strict=True) if not count]
    if lost or not len(test.labels):
        what = (
            f"no picture of {lost[0]} can be learned" if lost else "no picture that is held out can be read"
        )
        raise UsageError(f"{what}: {in_words(unreadable)}; replace them")


def load_pictures(folder: Path, size: int) -> ImageData:
    """Return the pictures of a folder as `size` × `size` images. Raises UsageError."""
    names, found, notes = split(folder)
    count = sum(map(len, found.values()))
    check_memory(folder, f"its {count:,} pictures take", 3 * count * size * size)
    unreadable: list[UnreadablePicture] = []
    train, test = (read_part(name, files, size, unreadable) for name, files in found.items())
    check_readable(names, train, test, unreadable)
    notes += [f"{in_words(unreadable)}, left out"] if unreadable else []
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
