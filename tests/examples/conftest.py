"""Runs of a training system in this process, and CIFAR folders as their authors wrote them.

A file of tests names its system: `SYSTEM = "indicator_transformer"`; without, it is cifar_optimizers.
"""

import hashlib
import importlib
import json
import os
import signal
import struct
from dataclasses import dataclass
from pathlib import Path

import numpy
import pytest
import torch

from examples.cifar_optimizers.cifar import CIFAR
from snippets import training_loop
from snippets.checkpoints import load_checkpoint
from snippets.framework.errors import exit_with_one_line
from snippets.framework.run_folder import read_metrics


@dataclass
class Outcome:
    """What a call of train.py left behind."""

    code: int
    out: str
    err: str
    folder: Path | None

    def json(self, name):
        return json.loads((self.folder / name).read_text())

    @property
    def metrics(self):
        return read_metrics(self.folder / "metrics.jsonl")

    @property
    def last(self):
        return load_checkpoint(self.folder / "checkpoints" / "last.pt")

    def assert_same_as(self, other):
        """Compare weights, optimizers, random numbers, sums and results bit by bit; not the speed."""
        assert_same(self.last, other.last)
        for first, second in zip(self.metrics, other.metrics, strict=True):
            assert_same(first, second)
        summaries = [outcome.json("summary.json") for outcome in (self, other)]
        assert len(summaries[0]) > 4
        for summary in summaries:
            del summary["options"]  # --out and --data may be named in another way
        assert_same(*summaries)


def assert_same(first, second, where=""):
    """Compare two nested states bit by bit."""
    assert type(first) is type(second), where
    if isinstance(first, torch.Tensor):
        assert torch.equal(first, second), where
    elif isinstance(first, dict):
        assert first.keys() == second.keys(), where
        for key in first.keys() - {"seconds", "samples_per_s", "config"}:  # they do differ
            assert_same(first[key], second[key], f"{where}/{key}")
    elif isinstance(first, list | tuple):
        assert len(first) == len(second), where
        for index, pair in enumerate(zip(first, second, strict=True)):
            assert_same(*pair, f"{where}/{index}")
    else:
        assert first == second, where


@pytest.fixture(scope="session")
def one_thread():
    """Return an environment for processes with one CPU thread, and let this process have one too.

    Networks this small gain nothing from a second thread, and on a busy machine two wait for each other.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield os.environ | {"OMP_NUM_THREADS": "1"}
    torch.set_num_threads(threads)


@pytest.fixture
def system(request):
    """Return the module train.py of the system under test: of the test's parameter, or of its file."""
    name = getattr(request, "param", None) or getattr(request.module, "SYSTEM", "cifar_optimizers")
    return importlib.import_module(f"examples.{name}.train")


@pytest.fixture
def run_train(system, tmp_path, monkeypatch, capsys, one_thread):
    """Return a function that calls train.py's main with options in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def call(*words):
        capsys.readouterr()
        code = exit_with_one_line(system.PROGRAM.main, [str(word) for word in words])
        printed = capsys.readouterr()
        folders = sorted(Path("runs", system.PROGRAM.system).glob("*"))
        out = Path(words[words.index("--out") + 1]) if "--out" in words else None
        folder = out or (folders[-1].resolve() if folders else None)
        return Outcome(code, printed.out, printed.err, folder)

    return call


@pytest.fixture
def outcome_of():
    """Return a function that gives the outcome of a run that another process made in a folder."""
    return lambda folder: Outcome(0, "", "", folder)


@pytest.fixture
def signal_at(system, monkeypatch):
    """Return a function that sends this process a signal during the given step of the next run."""
    task_class = system.PROGRAM.build
    original = task_class.learn

    def arrange(at, number=signal.SIGINT):
        def learn(task, batch):
            measures = original(task, batch)
            if task.state.step == at:
                signal.raise_signal(number)
            return measures

        monkeypatch.setattr(task_class, "learn", learn)

    return arrange


@pytest.fixture
def save_often(monkeypatch):
    """Let runs save whenever they look at the loss: the shortest ones here would save at their end only."""
    monkeypatch.setattr(training_loop, "FIRST_SAVE", 0.0)
    monkeypatch.setattr(training_loop, "SAVE_SHARE", float("inf"))


@pytest.fixture
def without_curves(system, monkeypatch):
    """Let runs in this process draw nothing at their end: in the shortest, that takes half of the time."""
    report = importlib.import_module(f"examples.{system.PROGRAM.system}.report")
    monkeypatch.setattr(report, "draw_curves", lambda *arguments: None)


@pytest.fixture(scope="session")
def outcomes_so_far():
    """Return the runs that nothing disturbed, by system and options."""
    return {}


@pytest.fixture
def undisturbed(system, outcomes_so_far, tmp_path_factory, one_thread):
    """Return a function that gives the outcome of a run with certain options that nothing disturbed."""

    def run(options):
        key = (system.PROGRAM.system, *map(str, options))
        if key not in outcomes_so_far:
            folder = tmp_path_factory.mktemp("undisturbed") / "run"
            assert system.PROGRAM.main([*key[1:], "--out", str(folder)]) == 0
            outcomes_so_far[key] = Outcome(0, "", "", folder)
        return outcomes_so_far[key]

    return run


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
