"""OpenMP runtimes: found among the loaded libraries and in the installed packages, and nothing else is."""

import ctypes
import shutil
import sys
from pathlib import Path

import pytest
import torch

from snippets import openmp_runtimes
from snippets.errors import exit_with_one_line
from snippets.openmp_runtimes import RUNTIME, installed_runtimes, loaded_runtimes, main

ON_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="the names are those of the Linux packages")


@pytest.mark.parametrize(
    ("name", "is_runtime"),
    [
        ("libomp.dylib", True),
        ("libiomp5.dylib", True),
        ("libgomp.1.dylib", True),
        ("libgomp-e985bcbb.so.1.0.0", True),
        ("libomp.so.5", True),
        ("libompd.so", False),
        ("libompstub.dylib", False),
        ("libcompression.dylib", False),
        ("libtorch_cpu.dylib", False),
    ],
)
def test_names(name, is_runtime):
    assert bool(RUNTIME.fullmatch(name)) == is_runtime


@ON_LINUX
def test_a_second_copy_is_counted_and_both_compute(tmp_path):
    """On Linux, two copies of GNU OpenMP share a process without a word."""
    before = loaded_runtimes()
    (of_torch,) = (file for file in before if Path(torch.__file__).resolve().parent in file.parents)
    copy = shutil.copy(of_torch, tmp_path / "libgomp-copy.so.1")
    second = ctypes.CDLL(str(copy))
    assert set(loaded_runtimes()) - set(before) == {copy}
    assert second.omp_get_max_threads() >= 1
    assert torch.ones(100_000).sum() == 100_000


class FakeLoader:
    """The part of dyld, the loader of macOS, that tells which libraries a process has."""

    NAMES = (b"/usr/lib/libSystem.B.dylib", b"/v/torch/lib/libomp.dylib", b"/v/sklearn/.dylibs/libomp.dylib")

    def __init__(self):
        self._dyld_image_count = lambda: len(self.NAMES)

    class _dyld_get_image_name:
        def __new__(cls, index):
            assert cls.restype is ctypes.c_char_p  # otherwise ctypes returns a number
            return FakeLoader.NAMES[index]


def test_the_loader_of_macos_is_read(monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(ctypes, "CDLL", lambda name: FakeLoader())
    expected = ["/v/sklearn/.dylibs/libomp.dylib", "/v/torch/lib/libomp.dylib"]
    assert [str(file) for file in loaded_runtimes()] == expected


def test_files_of_packages_conda_and_homebrew_are_found(tmp_path, monkeypatch):
    packages, brew = tmp_path / "site-packages", tmp_path / "brew"
    runtimes = [
        brew / "libomp.dylib",
        packages / "faiss/.dylibs/libomp.dylib",
        packages / "torch/lib/libomp.dylib",
    ]
    for file in [*runtimes, packages / "torch/include/omp.h", packages / "x/libompd.dylib"]:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    (packages / "torch/lib/libomp.5.dylib").symlink_to(runtimes[2])  # another name of the same file
    monkeypatch.setattr(openmp_runtimes, "ELSEWHERE", (brew,))
    assert installed_runtimes(packages) == runtimes


@ON_LINUX
def test_command_line(capsys):
    assert exit_with_one_line(main, ["torch", "json"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("import torch: ") and "torch/lib/libgomp.so.1" in lines[0]
    assert lines[1] == "import json: no other OpenMP runtime"
    assert "torch/lib/libgomp.so.1" in lines[3]


@pytest.mark.parametrize(
    ("names", "message"), [([], "name the packages"), (["nosuch"], "nosuch is not inst")]
)
def test_mistakes_get_one_line(capsys, names, message):
    assert exit_with_one_line(main, names) == 2
    assert message in capsys.readouterr().err
