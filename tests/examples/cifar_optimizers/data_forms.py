"""Files in the forms that people have, each as its documentation describes it, with few pictures.

Each function of docs/data/data_forms/cifar_optimizers.yaml gets an empty folder and returns the path for
--data, and what must be found there.
"""

import gzip
import io
import struct
import tarfile
from pathlib import Path
from typing import NamedTuple

import numpy
from PIL import Image

from examples.cifar_optimizers.cifar import CIFAR


class Made(NamedTuple):
    """What was made: counts of training and held-out pictures, names of classes, labels held out."""

    path: Path
    train: int = 0
    test: int = 0
    names: tuple[str, ...] | None = None
    held_out: tuple[int, ...] = ()


class Python2Pickle:
    """Writes pickles of protocol 2 as Python 2 and its NumPy did, and as the official CIFAR files are."""

    @classmethod
    def dumps(cls, value):
        return b"\x80\x02" + cls.item(value) + b"."

    @classmethod
    def item(cls, value):
        if value is None:
            return b"N"
        if isinstance(value, bool):
            return b"\x88" if value else b"\x89"
        if isinstance(value, int):
            return b"J" + struct.pack("<i", value)
        if isinstance(value, bytes):  # a str of Python 2
            return b"T" + struct.pack("<i", len(value)) + value
        if isinstance(value, tuple):
            return b"(" + b"".join(map(cls.item, value)) + b"t"
        if isinstance(value, list):
            return b"](" + b"".join(map(cls.item, value)) + b"e"
        if isinstance(value, dict):
            return b"}(" + b"".join(cls.item(part) for pair in value.items() for part in pair) + b"u"
        return cls.array(value)

    @classmethod
    def array(cls, value):
        dtype = b"cnumpy\ndtype\n" + cls.item((value.dtype.str[1:].encode(), 0, 1)) + b"R"
        dtype += cls.item((3, b"|", None, None, None, -1, -1, 0)) + b"b"
        empty = b"cnumpy.core.multiarray\n_reconstruct\n"
        empty += b"(cnumpy\nndarray\n" + cls.item((0,)) + cls.item(b"b") + b"tR"
        state = (
            b"(" + cls.item(1) + cls.item(value.shape) + dtype + cls.item(False) + cls.item(value.tobytes())
        )
        return empty + state + b"tb"


def write_cifar(parent, name="cifar10", per_file=30, dumps=Python2Pickle.dumps, seed=0):
    """Write a small set of either kind in the official format.

    Returns the official folder's path and the images and labels per file.
    """
    cifar, random = CIFAR[name], numpy.random.default_rng(seed)
    folder, content = parent / cifar.folder, {}
    folder.mkdir(parents=True)
    for file in (*cifar.train_files, *cifar.test_files):
        labels = [index % cifar.classes for index in range(per_file)]
        pixels = random.integers(0, 256, (per_file, 3072), dtype=numpy.uint8)
        pixels[:, :100] = numpy.array(labels)[:, None] * (255 // cifar.classes)  # something to learn
        entry = {b"batch_label": file.encode(), cifar.label_key: labels, b"data": pixels}
        if name == "cifar100":
            entry[b"coarse_labels"] = [label // 5 for label in labels]
        (folder / file).write_bytes(dumps(entry))
        content[file] = (pixels, labels)
    return folder, content


def class_names(name):
    """Return the names that `write_names` writes."""
    return tuple(f"kind {number}" for number in range(CIFAR[name].classes))


def write_names(folder, name):
    """Write the file with the names of the classes into an official folder."""
    (file,) = CIFAR[name].name_file
    entry = {CIFAR[name].name_key: [text.encode() for text in class_names(name)], b"num_vis": 3072}
    (folder / file).write_bytes(Python2Pickle.dumps(entry))


def pack(folder, archive):
    """Pack an official folder as its authors do."""
    with tarfile.open(archive, "w:gz") as file:
        file.add(folder, folder.name)
    return archive


def cifar_folder(folder, name="cifar10"):
    place, content = write_cifar(folder, name, per_file=10)
    write_names(place, name)
    files = CIFAR[name]
    held_out = tuple(content[next(iter(files.test_files))][1])
    return Made(folder, 10 * len(files.train_files), 10, class_names(name), held_out)


def archive_of(folder, name):
    made = cifar_folder(folder / "unpacked", name)
    (archive,) = CIFAR[name].archive
    return made._replace(path=pack(folder / "unpacked" / CIFAR[name].folder, folder / archive))


def cifar10_archive(folder):
    return archive_of(folder, "cifar10")


def cifar100_archive(folder):
    return archive_of(folder, "cifar100")


def cifar_binary(folder):
    (folder / "cifar-10-batches-bin").mkdir()
    (folder / "cifar-10-batches-bin" / "data_batch_1.bin").write_bytes(bytes(3073))
    return Made(pack(folder / "cifar-10-batches-bin", folder / "cifar-10-binary.tar.gz"))


def write_pictures(folder, counts, ending="png", width=12, height=9):
    """Write pictures of one colour each, in folders by class."""
    for name, count in counts.items():
        (folder / name).mkdir(parents=True)
        for number in range(count):
            image = Image.new("RGB", (width, height), (10 * number, 100, 200))
            image.save(folder / name / f"{number}.{ending}")


def folder_per_class(folder):
    write_pictures(folder / "animals", {"dog": 7, "cat": 4})
    write_pictures(folder / "animals", {"猫 cat": 10}, "jpg")
    (folder / "animals" / ".DS_Store").write_bytes(b"\0")
    (folder / "animals" / "dog" / "notes.txt").write_text("mine")
    return Made(folder / "animals", 18, 3, ("cat", "dog", "猫 cat"), (1, 2, 2))


def train_and_test(folder):
    for part, count in (("train", 4), ("test", 2), ("val", 3)):
        write_pictures(folder / part, {"cat": count, "dog": 1})
    return Made(folder, 5, 3, ("cat", "dog"), (0, 0, 1))


def train_and_val(folder):
    write_pictures(folder / "train", {"cat": 4, "dog": 3})
    write_pictures(folder / "validation", {"dog": 2})
    return Made(folder, 7, 2, ("cat", "dog"), (1, 1))


def heic_photos(folder):
    write_pictures(folder, {"cat": 2})
    (folder / "cat" / "IMG_1.HEIC").write_bytes(b"\0\0\0\x18ftypheic")
    return Made(folder)


def one_folder_with_csv(folder):
    write_pictures(folder, {"images": 3})
    (folder / "labels.csv").write_text("file,label\n0.png,cat\n1.png,dog\n2.png,cat\n")
    return Made(folder)


def pictures_in(folder, count):
    """Write pictures that are in no folder of a class."""
    write_pictures(folder.parent, {folder.name: count})


def kaggle_labels(folder):
    pictures_in(folder / "train", 6)
    pictures_in(folder / "test", 3)
    (folder / "labels.csv").write_text("id,breed\n0,dingo\n1,beagle\n")
    (folder / "sample_submission.csv").write_text("id,beagle,dingo\n0,0.5,0.5\n")
    return Made(folder)


def tiny_imagenet(folder):
    for part, names in (("train", ("n01443537/images", "n01629819/images")), ("test", ("images",))):
        write_pictures(folder / part, dict.fromkeys(names, 5))
    pictures_in(folder / "val" / "images", 2)
    (folder / "val" / "val_annotations.txt").write_text("0.png\tn01443537\t0\t32\t44\t62\n")
    return Made(folder)


def table_of_pixels(folder):
    names = ",".join(["label", *(f"pixel{number}" for number in range(1, 785))])
    for part in ("train", "test"):
        (folder / f"fashion-mnist_{part}.csv").write_text(f"{names}\n{'2,' + ','.join(['0'] * 784)}\n")
    return Made(folder)


def unreadable_pictures(folder):
    write_pictures(folder, {"cat": 6, "dog": 12})
    whole = picture_bytes(Image.effect_noise((64, 64), 90))
    (folder / "cat" / "1.png").write_bytes(whole[: len(whole) // 2])
    (folder / "dog" / "0.png").write_bytes(b"")
    (folder / "kept for later").mkdir()
    return Made(folder, 13, 3, ("cat", "dog"), (0, 1, 1))


def zipped_pictures(folder):
    (folder / "pictures.zip").write_bytes(b"PK\5\6" + bytes(18))
    return Made(folder / "pictures.zip")


def write_npz(file, shape, labels, parts=("train", "val", "test"), pattern="{}_images {}_labels"):
    """Write arrays with values that tell the pictures apart; `labels` is (count, columns)."""
    arrays = {}
    for number, part in enumerate(parts):
        images, kinds = pattern.format(part, part).split()
        arrays[images] = numpy.full(shape, number, numpy.uint8)
        arrays[images][:, 3, 5] = numpy.arange(len(labels)).reshape(-1, *[1] * (len(shape) - 3))
        arrays[kinds] = labels
    numpy.savez_compressed(file, **arrays)
    return file


COLUMN = numpy.array([[0], [1], [0], [2], [1]], numpy.uint8)
FLAT = (0, 1, 0, 2, 1)


def medmnist_grey(folder):
    return Made(write_npz(folder / "pneumoniamnist.npz", (5, 28, 28), COLUMN), 5, 5, None, FLAT)


def medmnist_colour(folder):
    return Made(write_npz(folder / "bloodmnist_64.npz", (5, 64, 64, 3), COLUMN), 5, 5, None, FLAT)


def medmnist_labels(folder):
    return Made(write_npz(folder / "chestmnist.npz", (5, 28, 28), numpy.zeros((5, 14), numpy.uint8)))


def medmnist_volumes(folder):
    return Made(write_npz(folder / "organmnist3d.npz", (5, 28, 28, 28), COLUMN))


def keras_mnist(folder):
    file = write_npz(folder / "mnist.npz", (5, 28, 28), COLUMN[:, 0], ("train", "test"), "x_{} y_{}")
    return Made(file, 5, 5, None, FLAT)


def write_idx(file, values):
    """Write an array of bytes as MNIST's authors do, packed when the name ends in .gz."""
    head = struct.pack(f">BBBB{values.ndim}I", 0, 0, 8, values.ndim, *values.shape)
    content = head + values.tobytes()
    file.write_bytes(gzip.compress(content) if file.suffix == ".gz" else content)


def idx_files(folder, ending=".gz"):
    for part in ("train", "t10k"):
        images = numpy.zeros((5, 28, 28), numpy.uint8)
        images[:, 3, 5] = numpy.arange(5)
        write_idx(folder / f"{part}-images-idx3-ubyte{ending}", images)
        write_idx(folder / f"{part}-labels-idx1-ubyte{ending}", COLUMN[:, 0])
    return Made(folder, 5, 5, None, FLAT)


def picture_bytes(image, kind="PNG", **options):
    """Return a picture as the content of a file."""
    file = io.BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()
