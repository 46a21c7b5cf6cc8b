"""CIFAR folders as their authors wrote them."""

import hashlib
import struct

import numpy
import pytest

from examples.cifar_optimizers.cifar import CIFAR


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


@pytest.fixture(scope="session")
def write_cifar():
    """Return a function that writes a small set of either kind in the official format.

    It returns the official folder's path and the images and labels per file.
    """

    def write(parent, name="cifar10", per_file=30, dumps=Python2Pickle.dumps, seed=0):
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

    return write


@pytest.fixture
def official(monkeypatch):
    """Return a function that makes the reader take the files of a folder for the official ones."""

    def declare(folder):
        for cifar in CIFAR.values():
            for files in (cifar.train_files, cifar.test_files):
                for file in files:
                    if (folder / file).exists():
                        md5 = hashlib.md5((folder / file).read_bytes()).hexdigest()
                        monkeypatch.setitem(files, file, md5)

    return declare
