"""What keeps the device from being compiled or used is said in one line."""

import os
import subprocess
import sys

import pytest
import torch
from simulated_mps import build
from simulated_mps.errors import SimulationError


def test_other_builds_of_pytorch_are_refused(monkeypatch):
    monkeypatch.setattr(torch.backends.mps, "is_built", lambda: False)
    build.check_pytorch()
    monkeypatch.setattr(torch.version, "cuda", "13.2")
    with pytest.raises(
        SimulationError, match=r"built for CUDA or ROCm.*pip install torch==2\.13\.0 --index-url"
    ):
        build.check_pytorch()
    monkeypatch.setattr(torch.version, "cuda", None)
    monkeypatch.setattr(torch, "__version__", "2.3.1+cpu")
    with pytest.raises(SimulationError, match=r"PyTorch 2.3.1\+cpu is not supported, only 2.13"):
        build.check_pytorch()


def test_a_mac_is_refused(monkeypatch):
    monkeypatch.setattr(torch.backends.mps, "is_built", lambda: True)
    with pytest.raises(SimulationError, match="has the real MPS"):
        build.check_pytorch()


def enable_with(tmp_path, **variables):
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path), **variables}
    command = [sys.executable, "-m", "simulated_mps", __file__]
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


@pytest.mark.parametrize(
    ("compiler", "message"),
    [
        ("no-such-compiler", "there is no C++ compiler 'no-such-compiler'; install one"),
        ("false", "cannot compile"),
    ],
)
def test_without_a_working_compiler(tmp_path, compiler, message):
    done = enable_with(tmp_path, CXX=compiler)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 2  # after the line that says what it is doing
    assert not list(tmp_path.rglob("*.so"))


def test_the_compiled_device_is_kept(tmp_path, monkeypatch):
    """Nothing is compiled again, which a compiler that cannot compile proves."""
    library = build.cache_folder() / f"{build.NAME}.so"
    assert library.exists()
    stamp = library.stat().st_mtime_ns
    command = [sys.executable, "-c", "import simulated_mps; simulated_mps.enable()"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert done.stderr == ""
    assert library.stat().st_mtime_ns == stamp


def test_another_compiler_or_source_has_another_folder(monkeypatch, tmp_path):
    before = build.cache_folder()
    monkeypatch.setenv("CXX", "clang++")
    assert build.cache_folder() != before
    monkeypatch.delenv("CXX")
    changed = tmp_path / "device.cpp"
    changed.write_text("// other")
    monkeypatch.setattr(build, "SOURCES", [changed])
    assert build.cache_folder() != before


def test_compile_prints_library_path_or_one_reason(tmp_path):
    command = [sys.executable, "-m", "simulated_mps", "--compile"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(build.cache_folder() / f"{build.NAME}.so")
    assert done.stderr == ""
    elsewhere = {**os.environ, "XDG_CACHE_HOME": str(tmp_path), "CXX": "no-such-compiler"}
    failed = subprocess.run(command, capture_output=True, text=True, env=elsewhere, check=False)
    assert (failed.returncode, failed.stdout) == (2, "")
    assert failed.stderr.splitlines()[1].startswith("error: there is no C++ compiler")


@pytest.mark.parametrize("words", [pytest.param([], marks=pytest.mark.long), ["--compile", "script.py"]])
def test_a_script_or_compiling_but_not_both(words):
    command = [sys.executable, "-m", "simulated_mps", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "name a script, or --compile and no script" in done.stderr
