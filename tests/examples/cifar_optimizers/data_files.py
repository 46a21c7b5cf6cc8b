"""The files that this system reads, for the attacks of test_damaged_data.py."""

import pickle

import numpy
from PIL import Image

from examples.cifar_optimizers.array_sets import load_npz, read_idx
from examples.cifar_optimizers.cifar import CIFAR, load_cifar, read_file
from examples.cifar_optimizers.pictures import read_picture
from tests.examples.cifar_optimizers import data_forms

IMAGES = 2


def maker(name, protocol):
    """Return a function that writes a file of a set as its authors did, with few images."""

    def make(path):
        data = numpy.arange(IMAGES * 3072, dtype=numpy.uint8).reshape(IMAGES, 3072)
        entry = {b"data": data, CIFAR[name].label_key: [0, 9], b"batch_label": b"training batch 1 of 5"}
        path.write_bytes(pickle.dumps(entry, protocol))

    return make


def reader(name):
    """Return a function that reads a file without its checksum, which would notice everything."""
    return lambda path: read_file(path, CIFAR[name], None)


def checker(name):
    """Return a function that fails unless what was read are images with labels."""

    def check(read):
        images, labels = read
        assert (str(images.dtype), images.shape[1:]) == ("torch.uint8", (3, 32, 32))
        assert len(images) == len(labels) and labels.min() >= 0 and labels.max() < CIFAR[name].classes

    return check


def picture(kind):
    """Return a function that writes a picture."""
    return lambda path: path.write_bytes(data_forms.picture_bytes(Image.effect_noise((24, 16), 60), kind))


def archive(path):
    """Write CIFAR-10's archive with few images."""
    content = data_forms.cifar10_archive(path.parent / "made").path.read_bytes()
    path.write_bytes(content)


def check_data(read):
    """Fail unless what was read are images with labels."""
    check_pixels(read.train_images)
    assert len(read.train_images) == len(read.train_labels) and read.train_labels.max() < read.classes


def check_pixels(images):
    """Fail unless these are uint8 images."""
    assert (str(images.dtype), images.shape[-3]) == ("torch.uint8", 3)


# name: what makes such a file, what reads it, what must hold for what was read
FILES = {
    "data_batch_1": (maker("cifar10", 2), reader("cifar10"), checker("cifar10")),
    "train": (maker("cifar100", 5), reader("cifar100"), checker("cifar100")),
    "cifar-10-python.tar.gz": (archive, lambda path: load_cifar("cifar10", path, check=False), check_data),
    "picture.png": (picture("PNG"), lambda path: read_picture(path, 8).pixels, check_pixels),
    "picture.jpg": (picture("JPEG"), lambda path: read_picture(path, 8).pixels, check_pixels),
    "set.npz": (
        lambda path: data_forms.medmnist_grey(path.parent).path.rename(path),
        lambda path: load_npz(path, 28),
        check_data,
    ),
    "train-images-idx3-ubyte.gz": (
        lambda path: data_forms.write_idx(path, numpy.zeros((2, 4, 4), numpy.uint8)),
        read_idx,
        lambda read: read.shape,
    ),
}
