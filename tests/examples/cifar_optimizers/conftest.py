"""CIFAR folders as their authors wrote them."""

import hashlib

import pytest

from examples.cifar_optimizers.cifar import CIFAR
from tests.examples.cifar_optimizers import data_forms


@pytest.fixture(scope="session")
def write_cifar():
    """Return the function that writes a small set of either kind in the official format."""
    return data_forms.write_cifar


@pytest.fixture
def official(monkeypatch):
    """Return a function that makes the reader take the files of a folder for the official ones."""

    def declare(folder):
        for cifar in CIFAR.values():
            for files in (cifar.train_files, cifar.test_files, cifar.name_file):
                for file in files:
                    if (folder / file).exists():
                        md5 = hashlib.md5((folder / file).read_bytes()).hexdigest()
                        monkeypatch.setitem(files, file, md5)

    return declare
