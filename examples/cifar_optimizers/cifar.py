"""Read CIFAR-10 and CIFAR-100 from the official folders or archives, without executing their pickles.

Format: A. Krizhevsky, www.cs.toronto.edu/~kriz/cifar.html. Each file is a pickled dictionary with bytes
as keys: b"data" is uint8 (count, 3072), each row the red, green and blue planes of one 32×32 image;
b"labels" (CIFAR-100: b"fine_labels") is a list of integers. One more file, batches.meta or meta, lists the
names of the classes.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy
import torch

from examples.cifar_optimizers.cifar_archive import archived_files
from examples.cifar_optimizers.image_data import ImageData
from snippets.errors import RunError, UsageError
from snippets.foreign_files import UNPACKED, read_bytes
from snippets.restricted_pickle import read_pickled_arrays


@dataclass(frozen=True)
class Cifar:
    """The properties of one of the two sets. The MD5 sums are those of torchvision's classes."""

    folder: str
    classes: int
    label_key: bytes
    train_files: dict[str, str]  # name: MD5 of the official file
    test_files: dict[str, str]
    name_file: dict[str, str]  # of the classes
    name_key: bytes
    archive: dict[str, str]
    mean: tuple[float, float, float]
    std: tuple[float, float, float]
    label_smoothing: float
    torchvision_class: str


CIFAR = {
    "cifar10": Cifar(
        folder="cifar-10-batches-py",
        classes=10,
        label_key=b"labels",
        train_files={
            "data_batch_1": "c99cafc152244af753f735de768cd75f",
            "data_batch_2": "d4bba439e000b95fd0a9bffe97cbabec",
            "data_batch_3": "54ebc095f3ab1f0389bbae665268c751",
            "data_batch_4": "634d18415352ddfa80567beed471001a",
            "data_batch_5": "482c414d41f54cd18b22e5b47cb7c3cb",
        },
        test_files={"test_batch": "40351d587109b95175f43aff81a1287e"},
        name_file={"batches.meta": "5ff9c542aee3614f3951f8cda6e48888"},
        name_key=b"label_names",
        archive={"cifar-10-python.tar.gz": "c58f30108f718f92721af3b95e74349a"},
        mean=(0.4914, 0.4822, 0.4465),
        std=(0.2470, 0.2435, 0.2616),
        label_smoothing=0.0,
        torchvision_class="CIFAR10",
    ),
    "cifar100": Cifar(
        folder="cifar-100-python",
        classes=100,
        label_key=b"fine_labels",
        train_files={"train": "16019d7e3df5f24257cddd939b257f8d"},
        test_files={"test": "f0ef6b0ae62326f3e7ffdfab6717acfc"},
        name_file={"meta": "7973b15100ade9c7d40fb424638fde48"},
        name_key=b"fine_label_names",
        archive={"cifar-100-python.tar.gz": "eb9058c3a382ffc7106e4002c42a8d85"},
        mean=(0.5071, 0.4867, 0.4408),
        std=(0.2675, 0.2565, 0.2761),
        label_smoothing=0.1,
        torchvision_class="CIFAR100",
    ),
}


def read_file(path: Path, cifar: Cifar, md5: str | None) -> tuple[torch.Tensor, torch.Tensor]:
    """Return images (count, 3, 32, 32) uint8 and labels (count,) int64 of one file.

    `md5` None skips the checksum. Raises UsageError when the file is missing, altered or malformed.
    """
    return images_in(read_whole(path), path, cifar, md5)


def read_whole(path: Path) -> bytes:
    """Return the content of one file of a set. Raises UsageError."""
    try:
        return read_bytes(path, UNPACKED)
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}; --download fetches the whole set") from None


def unpickled(content: bytes, path: Path, md5: str | None) -> Any:
    """Return what a file of a set holds; `md5` None skips the checksum. Raises UsageError."""
    found = hashlib.md5(content, usedforsecurity=False).hexdigest()
    if md5 is not None and found != md5:
        raise UsageError(
            f"{path} is not the official file (MD5 {found}, {len(content)} bytes): damaged or changed; "
            "fetch it again, or use --skip-checksum if it is your own"
        )
    try:
        return read_pickled_arrays(content)
    except Exception as error:  # a truncated or damaged pickle can raise any error
        raise UsageError(f"cannot read {path}: {error or type(error).__name__}; fetch it again") from None


def images_in(content: bytes, path: Path, cifar: Cifar, md5: str | None) -> tuple[torch.Tensor, torch.Tensor]:
    """Return images and labels in the content of the file `path`, as `read_file` does. Raises UsageError."""
    return check_entry(unpickled(content, path, md5), path, cifar)


def names_in(content: bytes, path: Path, cifar: Cifar, md5: str | None) -> tuple[str, ...]:
    """Return the names of the classes in the content of the file `path`. Raises UsageError."""
    entry = unpickled(content, path, md5)
    names = entry.get(cifar.name_key) if isinstance(entry, dict) else None
    if not isinstance(names, list) or not all(isinstance(name, bytes | str) for name in names):
        raise UsageError(f"{path} has no list '{cifar.name_key.decode()}': not a {cifar.folder} file")
    if len(names) != cifar.classes:
        raise UsageError(f"{path}: {len(names)} names of {cifar.classes} classes")
    return tuple(name.decode(errors="replace") if isinstance(name, bytes) else name for name in names)


def check_entry(entry: Any, path: Path, cifar: Cifar) -> tuple[torch.Tensor, torch.Tensor]:
    """Return images and labels of an unpickled file. Raises UsageError when their format is wrong."""
    if not isinstance(entry, dict) or b"data" not in entry or cifar.label_key not in entry:
        raise UsageError(f"{path} has no 'data' with '{cifar.label_key.decode()}': not a {cifar.folder} file")
    pixels, labels = entry[b"data"], entry[cifar.label_key]
    if not isinstance(pixels, numpy.ndarray) or pixels.dtype != numpy.uint8 or pixels.shape[1:] != (3072,):
        shape = getattr(pixels, "shape", type(pixels).__name__)
        raise UsageError(f"{path}: 'data' is {shape}, expected uint8 (count, 3072)")
    valid = range(cifar.classes)
    if not isinstance(labels, list) or not all(type(label) is int and label in valid for label in labels):
        raise UsageError(f"{path}: labels must be integers from 0 to {cifar.classes - 1}")
    if len(labels) != len(pixels) or not labels:
        raise UsageError(f"{path}: {len(pixels)} images and {len(labels)} labels")
    return torch.from_numpy(pixels.reshape(-1, 3, 32, 32).copy()), torch.tensor(labels, dtype=torch.int64)


def files_of(place: Path, cifar: Cifar, *, check: bool) -> Iterator[tuple[Path, bytes]]:
    """Yield (path, content) of each file of a set, from its folder or archive. Raises UsageError.

    Names of classes are missing in folders that somebody copied in part.
    """
    wanted = [*cifar.train_files, *cifar.test_files, *cifar.name_file]
    if not place.is_dir():
        (md5,) = cifar.archive.values()
        yield from archived_files(place, cifar.folder, wanted, md5 if check else None)
        return
    for name in wanted:
        if (place / name).exists() or name not in cifar.name_file:
            yield place / name, read_whole(place / name)


def load_cifar(name: str, place: Path, *, check: bool = True) -> ImageData:
    """Return "cifar10" or "cifar100" from its official folder or archive; `check` compares the MD5 sums.

    Raises UsageError.
    """
    cifar = CIFAR[name]
    sums = cifar.train_files | cifar.test_files | cifar.name_file
    names, read = None, {}
    for path, content in files_of(place, cifar, check=check):
        md5 = sums[path.name] if check else None
        if path.name in cifar.name_file:
            names = names_in(content, path, cifar, md5)
        else:
            read[path.name] = images_in(content, path, cifar, md5)
    parts = []
    for files in (cifar.train_files, cifar.test_files):
        if missing := files.keys() - read.keys():
            raise UsageError(f"{place} has no {cifar.folder}/{min(missing)}; fetch it again")
        parts.append([torch.cat(tensors) for tensors in zip(*(read[file] for file in files), strict=True)])
    (train_images, train_labels), (test_images, test_labels) = parts
    return ImageData(
        name=name,
        source=f"{place}, {'checksums match' if check else 'checksums not compared'}",
        classes=cifar.classes,
        train_images=train_images,
        train_labels=train_labels,
        test_images=test_images,
        test_labels=test_labels,
        mean=torch.tensor(cifar.mean).view(3, 1, 1),
        std=torch.tensor(cifar.std).view(3, 1, 1),
        crop_padding=4,
        flip=True,
        label_smoothing=cifar.label_smoothing,
        class_names=names,
    )


def find_cifar(folder: Path) -> tuple[str, Path] | None:
    """Return the set's name and its official folder, which is `folder` or inside it, or None.

    Raises UsageError when both sets are there.
    """
    found = [
        (name, place)
        for name, cifar in CIFAR.items()
        for place in (folder, folder / cifar.folder)
        if place.name == cifar.folder and place.is_dir()
    ]
    if len(found) > 1:
        names = " or ".join(cifar.folder for cifar in CIFAR.values())
        raise UsageError(f"--data {folder} contains both sets; name one: {names}")
    return found[0] if found else None


def download_cifar(name: str, root: Path) -> None:
    """Download the set (170 MB) with torchvision and unpack it into `root`, unless it is there.

    torchvision checks the archive's MD5 before unpacking. Raises UsageError when torchvision is not
    installed, and RunError when the download fails.
    """
    try:
        from torchvision import datasets  # imported here, because only downloads need torchvision
    except ImportError as error:
        raise UsageError(f"--download needs torchvision ({error}); install it or use --data FOLDER") from None
    dataset = getattr(datasets, CIFAR[name].torchvision_class)
    try:
        root.mkdir(parents=True, exist_ok=True)
        dataset(root, download=True)
    except (OSError, RuntimeError) as error:
        raise RunError(
            f"cannot download {dataset.url}: {error}; get it in another way, and name the file with --data"
        ) from None
