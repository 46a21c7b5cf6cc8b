"""The official CIFAR files: read exactly, checked, and never executed."""

import hashlib
import os
import pickle
import sys
from pathlib import Path

import pytest
import torch
import torchvision

from examples.cifar_optimizers.cifar import CIFAR, find_cifar, load_cifar
from snippets.errors import UsageError
from tests.examples.cifar_optimizers.data_forms import pack, write_names
from tests.static_server import static_server


def as_images(pixels):
    return torch.from_numpy(pixels).view(-1, 3, 32, 32)


@pytest.mark.parametrize("name", CIFAR)
def test_the_official_format_is_read_back_exactly(tmp_path, write_cifar, official, name):
    folder, content = write_cifar(tmp_path, name, per_file=200)
    official(folder)
    data = load_cifar(name, folder)
    cifar = CIFAR[name]
    train, test = ([content[file] for file in files] for files in (cifar.train_files, cifar.test_files))
    assert torch.equal(data.train_images, torch.cat([as_images(pixels) for pixels, _ in train]))
    assert data.train_labels.tolist() == [label for _, labels in train for label in labels]
    assert torch.equal(data.test_images, as_images(test[0][0]))
    assert data.test_labels.tolist() == test[0][1]
    assert data.classes == cifar.classes
    assert (data.crop_padding, data.flip) == (4, True)
    assert data.label_smoothing == (0.1 if name == "cifar100" else 0.0)


def test_the_writer_of_these_tests_agrees_with_pickle(tmp_path, write_cifar):
    """What the tests write is what Python's own reader, and so torchvision, would understand."""
    folder, content = write_cifar(tmp_path)
    entry = pickle.loads((folder / "data_batch_1").read_bytes(), encoding="bytes")
    assert set(entry) == {b"batch_label", b"labels", b"data"}
    assert (entry[b"data"] == content["data_batch_1"][0]).all()
    assert entry[b"labels"] == content["data_batch_1"][1]


@pytest.mark.parametrize("protocol", [2, 4, 5])
def test_files_of_a_modern_python_are_read_too(tmp_path, write_cifar, protocol):
    folder, content = write_cifar(tmp_path, dumps=lambda entry: pickle.dumps(entry, protocol))
    data = load_cifar("cifar10", folder, check=False)
    assert torch.equal(data.test_images, as_images(content["test_batch"][0]))


def test_checksums_are_those_of_torchvision():
    for name in CIFAR:
        theirs = getattr(torchvision.datasets, name.upper())
        assert dict(theirs.train_list) == CIFAR[name].train_files
        assert dict(theirs.test_list) == CIFAR[name].test_files
        assert {theirs.meta["filename"]: theirs.meta["md5"]} == CIFAR[name].name_file
        assert theirs.meta["key"].encode() == CIFAR[name].name_key
        assert {theirs.filename: theirs.tgz_md5} == CIFAR[name].archive
        assert theirs.base_folder == CIFAR[name].folder


def test_folder_is_the_official_one_or_contains_it(tmp_path, write_cifar):
    folder, _ = write_cifar(tmp_path)
    assert find_cifar(folder) == ("cifar10", folder)
    assert find_cifar(tmp_path) == ("cifar10", folder)
    write_cifar(tmp_path, "cifar100")
    with pytest.raises(UsageError, match="contains both sets; name one"):
        find_cifar(tmp_path)
    assert find_cifar(tmp_path / "cifar-100-python")[0] == "cifar100"
    (tmp_path / "empty").mkdir()
    assert find_cifar(tmp_path / "empty") is None


def test_another_file_than_the_official_one_is_refused(tmp_path, write_cifar, official):
    folder, _ = write_cifar(tmp_path)
    with pytest.raises(UsageError, match=r"data_batch_1 is not the official file \(MD5 .*--skip-checksum"):
        load_cifar("cifar10", folder)
    assert "not compared" in load_cifar("cifar10", folder, check=False).source
    official(folder)
    content = bytearray((folder / "test_batch").read_bytes())
    content[-500] ^= 1
    (folder / "test_batch").write_bytes(content)
    with pytest.raises(UsageError, match="test_batch is not the official file"):
        load_cifar("cifar10", folder)


@pytest.mark.parametrize("kept", [0, 1, 100, 0.5, 0.99, -1])
def test_a_cut_or_missing_file_is_named(tmp_path, write_cifar, kept):
    folder, _ = write_cifar(tmp_path)
    content = (folder / "data_batch_3").read_bytes()
    (folder / "data_batch_3").write_bytes(content[: int(kept * len(content)) if 0 < kept < 1 else kept])
    with pytest.raises(UsageError, match=r"cannot read .*data_batch_3"):
        load_cifar("cifar10", folder, check=False)
    (folder / "data_batch_3").unlink()
    with pytest.raises(UsageError, match=r"cannot read .*data_batch_3: No such file"):
        load_cifar("cifar10", folder, check=False)


class Command:
    def __init__(self, trace):
        self.trace = trace

    def __reduce__(self):
        return os.mkdir, (str(self.trace),)


def test_a_malicious_file_is_refused_and_not_executed(tmp_path, write_cifar, run_train):
    folder, _ = write_cifar(tmp_path)
    trace = tmp_path / "executed"
    (folder / "data_batch_2").write_bytes(pickle.dumps({b"data": Command(trace), b"labels": [0]}))
    run = run_train("--data", folder, "--skip-checksum")
    assert run.code == 2
    assert run.err.count("\n") == 1
    assert "data_batch_2: it wants to use posix.mkdir" in run.err
    assert not trace.exists()
    assert not Path("runs").exists()


def damage(**changes):
    def dumps(entry):
        entry = {key: value for key, value in entry.items() if key.decode() not in changes}
        extra = {name.encode(): value for name, value in changes.items() if value is not None}
        return pickle.dumps(entry | extra)

    return dumps


@pytest.mark.parametrize(
    ("dumps", "message"),
    [
        (damage(labels=None), "has no 'data' with 'labels'"),
        (damage(data=None), "has no 'data' with 'labels'"),
        (lambda entry: pickle.dumps([1, 2]), "has no 'data' with 'labels'"),
        (damage(labels=[0, 1]), "30 images and 2 labels"),
        (damage(labels=[10] * 30), "labels must be integers from 0 to 9"),
        (damage(labels=[-1] * 30), "labels must be integers"),
        (damage(labels=["cat"] * 30), "labels must be integers"),
        (damage(labels="no list"), "labels must be integers"),
        (damage(data=[1, 2, 3]), "'data' is list, expected uint8"),
        (damage(data=torch.zeros(30, 100).numpy()), "'data' is (30, 100), expected uint8"),
        (damage(data=torch.zeros(30, 3072).numpy()), "expected uint8"),
        (damage(data=torch.zeros(0, 3072, dtype=torch.uint8).numpy(), labels=[]), "0 images and 0 labels"),
    ],
)
def test_files_with_other_content_are_named(tmp_path, write_cifar, dumps, message):
    folder, _ = write_cifar(tmp_path, dumps=dumps)
    with pytest.raises(UsageError) as caught:
        load_cifar("cifar10", folder, check=False)
    assert "data_batch_1" in str(caught.value)
    assert message in str(caught.value)


@pytest.mark.parametrize("name", CIFAR)
def test_training_from_a_folder(tmp_path, write_cifar, run_train, name):
    write_cifar(tmp_path / "sets", name, per_file=100)
    options = ["--width", "2", "--max-steps", "3", "--batch-size", "50"]
    run = run_train("--data", tmp_path / "sets", "--skip-checksum", *options)
    assert run.code == 0
    assert f"data       {name}: " in run.out
    assert "32×32 pixels" in run.out
    config = run.json("config.json")
    assert config["options"]["data_name"] == name
    assert config["options"]["epochs"] == 200


@pytest.fixture
def archive(tmp_path, write_cifar, official, monkeypatch):
    """Let torchvision download a small set, in the official format, from a server on this machine."""
    folder, _ = write_cifar(tmp_path / "original", per_file=40)
    write_names(folder, "cifar10")
    served = tmp_path / "served" / "cifar-10-python.tar.gz"
    served.parent.mkdir()
    pack(folder, served)
    official(folder)
    theirs = torchvision.datasets.CIFAR10

    def md5(path):
        return hashlib.md5(path.read_bytes()).hexdigest()

    with static_server(served.parent) as port:
        monkeypatch.setattr(theirs, "url", f"http://127.0.0.1:{port}/{served.name}")
        monkeypatch.setattr(theirs, "tgz_md5", md5(served))
        monkeypatch.setattr(
            theirs, "train_list", [[file, md5(folder / file)] for file, _ in theirs.train_list]
        )
        monkeypatch.setattr(theirs, "test_list", [[file, md5(folder / file)] for file, _ in theirs.test_list])
        monkeypatch.setattr(theirs, "meta", theirs.meta | {"md5": md5(folder / "batches.meta")})
        yield served


def test_download_fetches_checks_and_unpacks(archive, run_train, tmp_path):
    options = ["--data", "cifar10", "--width", "2", "--max-steps", "2", "--batch-size", "50"]
    run = run_train("--download", *options)
    assert run.code == 0, run.err
    assert "downloading cifar10 to data/ with torchvision" in run.out
    assert "checksums match" in run.out
    assert (tmp_path / "data" / "cifar-10-batches-py" / "test_batch").exists()
    archive.unlink()
    assert run_train(*options).code == 0  # it is there now


def test_a_damaged_or_failed_download_is_refused(archive, run_train):
    archive.write_bytes(archive.read_bytes()[:-100])
    run = run_train("--data", "cifar10", "--download")
    assert (run.code, "corrupted" in run.err) == (1, True)
    assert not Path("data/cifar-10-batches-py").exists()
    archive.unlink()
    Path("data/cifar-10-python.tar.gz").unlink()
    run = run_train("--data", "cifar10", "--download")
    assert run.code == 1
    assert run.err.splitlines()[-1].startswith("error: cannot download http://127.0.0.1")
    assert "404" in run.err and "name the file with --data" in run.err


def test_download_without_torchvision(run_train, monkeypatch):
    monkeypatch.setitem(sys.modules, "torchvision", None)
    run = run_train("--data", "cifar10", "--download")
    assert run.code == 2
    assert "--download needs torchvision" in run.err
