"""CIFAR's archives: checksums, damage, and what unpacks to too much."""

import gzip
import hashlib
import io
import tarfile

import pytest

from examples.cifar_optimizers import cifar_archive
from examples.cifar_optimizers.cifar import CIFAR, load_cifar
from examples.cifar_optimizers.data_sources import find_data
from snippets.errors import UsageError
from tests.examples.cifar_optimizers.data_forms import cifar10_archive, cifar_folder, pack, write_names


def test_the_archive_and_its_files_are_compared(tmp_path, official, monkeypatch):
    made = cifar10_archive(tmp_path)
    with pytest.raises(UsageError, match=r"is not the official archive \(MD5 .*--skip-checksum"):
        load_cifar("cifar10", made.path)
    (name,) = CIFAR["cifar10"].archive
    md5 = hashlib.md5(made.path.read_bytes()).hexdigest()
    monkeypatch.setitem(CIFAR["cifar10"].archive, name, md5)
    with pytest.raises(UsageError, match=r"cifar-10-batches-py/\S+ is not the official file"):
        load_cifar("cifar10", made.path)
    official(tmp_path / "unpacked" / "cifar-10-batches-py")
    data = load_cifar("cifar10", made.path)
    assert (len(data.train_labels), data.class_names[3]) == (50, "kind 3")
    assert "checksums match" in data.source


@pytest.mark.parametrize("kept", [30, 0.5, -9])
def test_a_cut_archive_is_one_line(tmp_path, kept):
    path = cifar10_archive(tmp_path).path
    content = path.read_bytes()
    path.write_bytes(content[: int(kept * len(content)) if 0 < kept < 1 else kept])
    with pytest.raises(
        UsageError, match=r"cannot read .*damaged .*; download cifar-10-python.tar.gz"
    ) as caught:
        load_cifar(find_data(str(path))[0], path, check=False)
    assert "\n" not in str(caught.value)


def test_a_flipped_bit_is_found_without_checksums(tmp_path):
    path = cifar10_archive(tmp_path).path
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(UsageError, match="CRC check failed"):
        load_cifar("cifar10", path, check=False)


def test_a_bomb_is_refused_by_its_size(tmp_path, monkeypatch):
    monkeypatch.setattr(cifar_archive, "MOST", 100_000)
    path = tmp_path / "cifar-10-python.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        member = tarfile.TarInfo("zeros")
        member.size = 1_000_000
        archive.addfile(member, io.BytesIO(bytes(member.size)))
    with pytest.raises(UsageError, match="unpacks to more than 100,000 bytes: no CIFAR set does"):
        find_data(str(path))


@pytest.mark.parametrize("content", [b"", bytes(10_240), b"text" * 1000])
def test_other_packed_files_are_refused(tmp_path, content):
    path = tmp_path / "x.tar.gz"
    path.write_bytes(gzip.compress(content))
    with pytest.raises(UsageError, match=r"download cifar-10-python.tar.gz or"):
        find_data(str(path))


def test_a_missing_file_is_named(tmp_path):
    made = cifar_folder(tmp_path)
    (made.path / "cifar-10-batches-py" / "data_batch_4").unlink()
    path = pack(made.path / "cifar-10-batches-py", tmp_path / "a.tar.gz")
    with pytest.raises(UsageError, match=r"has no cifar-10-batches-py/data_batch_4"):
        load_cifar("cifar10", path, check=False)


def test_names_of_another_number_are_refused(tmp_path):
    made = cifar_folder(tmp_path)
    write_names(made.path / "cifar-10-batches-py", "cifar100")
    (made.path / "cifar-10-batches-py" / "meta").rename(made.path / "cifar-10-batches-py" / "batches.meta")
    with pytest.raises(UsageError, match="has no list 'label_names'"):
        load_cifar("cifar10", made.path / "cifar-10-batches-py", check=False)
