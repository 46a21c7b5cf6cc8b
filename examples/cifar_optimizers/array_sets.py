"""Pictures in arrays: .npz files as MedMNIST and Keras write them, and the four idx files of MNIST.

MedMNIST (package medmnist 3.0.2): arrays train_images, val_images, test_images, uint8, (count, height, width)
or (count, height, width, 3), and train_labels and so on, (count, 1). Keras (mnist.npz): x_train, y_train,
x_test, y_test, with labels (count,). idx: two zero bytes, the type (8: uint8), the number of axes, their
sizes as 4 bytes each, big end first, then the numbers.
"""

import gzip
import math
import struct
import zlib
from collections import Counter
from pathlib import Path

import numpy
import torch
from PIL import Image

from examples.cifar_optimizers.image_data import ImageData, channel_statistics
from examples.cifar_optimizers.pictures import fitted
from examples.programs.array_files import check_memory, names_in, read_npz
from snippets.errors import UsageError
from snippets.foreign_files import check_unpacked, open_regular, size_of

# foreign_reads: idx files, regular ones, whose size is compared with their head
MEDMNIST = ("train_images", "train_labels", "test_images", "test_labels")
WITHOUT_TEST = ("train_images", "train_labels", "val_images", "val_labels")
KERAS = ("x_train", "y_train", "x_test", "y_test")
IDX = ("train-images", "train-labels", "t10k-images", "t10k-labels")
MOST_CLASSES = 10_000
FLAT = "of volumes, save one slice each; or take a set of flat pictures, such as pneumoniamnist.npz"


def load_npz(path: Path, size: int) -> ImageData:
    """Return the pictures of a .npz file as `size` × `size` images. Raises UsageError."""
    present = names_in(path)
    keys = next((keys for keys in (MEDMNIST, WITHOUT_TEST, KERAS) if set(keys) <= set(present)), None)
    if keys is None:
        found = ", ".join(present[:8]) or "none"
        raise UsageError(
            f"{path} has the arrays {found}; expected {', '.join(MEDMNIST)} or {', '.join(KERAS)}"
        )
    check_several_classes(f"{path}: {keys[1]}", read_npz(path, keys[1:2])[keys[1]])  # before the pictures
    arrays = read_npz(path, keys)
    notes = ("val_images is not used",) if keys == MEDMNIST and "val_images" in present else ()
    return image_data(path, "npz", dict(zip(keys, arrays.values(), strict=True)), size, notes)


def find_idx(folder: Path, name: str) -> Path | None:
    """Return the idx file in `folder` whose name begins with `name`, an unpacked one first."""
    found = [path for path in folder.glob(f"{name}*idx*ubyte*") if path.suffix in ("", ".gz", *IDX_ENDINGS)]
    return min(found, key=lambda path: (path.suffix == ".gz", path.name), default=None)


IDX_ENDINGS = (".idx1-ubyte", ".idx3-ubyte")  # of train-images.idx3-ubyte


def holds_idx(folder: Path) -> bool:
    """Return whether `folder` has one of the four files at least."""
    return any(find_idx(folder, name) for name in IDX)


def load_idx(folder: Path, size: int) -> ImageData:
    """Return the pictures in MNIST's four files as `size` × `size` images. Raises UsageError."""
    arrays = {}
    for name in IDX:
        path = find_idx(folder, name)
        if path is None:
            raise UsageError(f"{folder} has no {name}-idx{3 if 'images' in name else 1}-ubyte(.gz); add it")
        arrays[path.name] = read_idx(path)
    return image_data(folder, "idx", arrays, size)


def read_idx(path: Path) -> numpy.ndarray:
    """Return the uint8 array of an idx file, packed with gzip or not. Raises UsageError."""
    try:
        with open_regular(path) as packed:
            file = gzip.GzipFile(fileobj=packed) if path.suffix == ".gz" else packed
            head = file.read(4)
            if len(head) < 4 or head[:3] != b"\0\0\x08" or not 1 <= head[3] <= 3:
                raise ValueError("its first bytes are not those of unsigned bytes with 1 to 3 axes")
            shape = struct.unpack(f">{head[3]}I", file.read(4 * head[3]))
            count = math.prod(shape)
            check_unpacked(path, count, size_of(packed))
            check_memory(path, "its numbers take", count)
            content = file.read(count + 1)
            if len(content) != count:
                raise ValueError(
                    f"it announces {count:,} bytes and has {'more' if len(content) > count else 'fewer'}"
                )
            return numpy.frombuffer(bytearray(content), numpy.uint8).reshape(shape)  # writable for PyTorch
    except (ValueError, EOFError, struct.error, zlib.error) as error:
        raise UsageError(f"{path} is no whole idx file: {error}; fetch it again") from None
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror or error}; fetch it again") from None


def image_data(
    place: Path, name: str, arrays: dict[str, numpy.ndarray], size: int, notes: tuple[str, ...] = ()
) -> ImageData:
    """Return arrays (images, labels, held-out images, held-out labels) as a data set. Raises UsageError."""
    (x, train_x), (y, train_y), (x_out, test_x), (y_out, test_y) = arrays.items()
    sizes: Counter[tuple[int, int]] = Counter()
    for key, images in ((x, train_x), (x_out, test_x)):
        check_images(f"{place}: {key}", images)
        sizes[images.shape[2], images.shape[1]] += len(images)
    check_memory(place, "its pictures take", 3 * sum(sizes.values()) * size * size)
    train_labels = as_labels(f"{place}: {y}", train_y, len(train_x))
    test_labels = as_labels(f"{place}: {y_out}", test_y, len(test_x))
    check_several_classes(f"{place}: {y}", train_y)
    classes = int(train_labels.max()) + 1
    if test_labels.max() >= classes:
        raise UsageError(f"{place}: {y_out} has class {int(test_labels.max())}, which {y} does not have")
    train_images = resized(train_x, size)
    mean, std = channel_statistics(train_images)
    return ImageData(
        name=name,
        source=str(place),
        classes=classes,
        train_images=train_images,
        train_labels=train_labels,
        test_images=resized(test_x, size),
        test_labels=test_labels,
        mean=mean,
        std=std,
        crop_padding=max(1, size // 16),
        sizes=sizes,
        notes=notes,
    )


def check_several_classes(place: str, labels: numpy.ndarray) -> None:
    """Raise UsageError for whole numbers, one per picture, that are all equal."""
    if labels.dtype.kind in "iu" and labels.size == len(labels) > 0 and labels.min() == labels.max():
        raise UsageError(f"{place} has one class only ({labels.max()}); two are the least")


def check_images(place: str, images: numpy.ndarray) -> None:
    """Raise UsageError unless these are pictures: grey or RGB, uint8, at least one."""
    shape = images.shape
    if len(shape) not in (3, 4) or (len(shape) == 4 and shape[3] != 3):
        expected = "expected (count, height, width) or (count, height, width, 3)"
        raise UsageError(f"{place} is {shape}, {expected}; {FLAT}")
    if images.dtype != numpy.uint8:
        raise UsageError(f"{place} is {images.dtype}, expected uint8 from 0 to 255")
    if 0 in shape:
        raise UsageError(f"{place} is {shape}: there is no picture in it")


def as_labels(place: str, labels: numpy.ndarray, count: int) -> torch.Tensor:
    """Return labels (count,) or (count, 1) as int64 (count,). Raises UsageError."""
    if labels.ndim == 2 and labels.shape[1] > 1:
        several = f"{labels.shape[1]} labels for each picture"
        raise UsageError(
            f"{place} has {several}; this program learns one class per picture, take another set"
        )
    if labels.shape not in ((count,), (count, 1)) or labels.dtype.kind not in "iu":
        raise UsageError(f"{place} is {labels.dtype} {labels.shape}, expected {count:,} whole numbers")
    flat = labels.reshape(-1)
    if flat.min() < 0 or flat.max() >= MOST_CLASSES:
        raise UsageError(
            f"{place} has classes {flat.min()} to {flat.max()}, expected 0 to {MOST_CLASSES - 1:,}"
        )
    return torch.from_numpy(flat.astype(numpy.int64))


def resized(images: numpy.ndarray, size: int) -> torch.Tensor:
    """Return images (count, height, width) or (count, height, width, 3) as uint8 (count, 3, size, size)."""
    if images.shape[1:3] == (size, size):
        grey = torch.from_numpy(numpy.ascontiguousarray(images))
        return (
            grey.unsqueeze(1).repeat(1, 3, 1, 1) if grey.ndim == 3 else grey.permute(0, 3, 1, 2).contiguous()
        )
    found = torch.empty(len(images), 3, size, size, dtype=torch.uint8)
    for index, image in enumerate(images):
        found[index] = fitted(Image.fromarray(numpy.ascontiguousarray(image)).convert("RGB"), size)
    return found
