"""The files that this system reads, for the attacks of test_damaged_data.py."""

import pickle

import numpy

from examples.cifar_optimizers.cifar import CIFAR, read_file

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


# name: what makes such a file, what reads it, what must hold for what was read
FILES = {
    "data_batch_1": (maker("cifar10", 2), reader("cifar10"), checker("cifar10")),
    "train": (maker("cifar100", 5), reader("cifar100"), checker("cifar100")),
}
