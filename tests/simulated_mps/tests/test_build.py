"""What keeps the device from being compiled or used is said in one line."""

import subprocess
import sys

import pytest
import torch
from simulated_mps import build
from simulated_mps.__main__ import main
from simulated_mps.errors import SimulationError


def test_other_builds_of_pytorch_are_refused(monkeypatch):
    monkeypatch.setattr(torch.backends.mps, "is_built", lambda: False)
    build.check_pytorch()
    monkeypatch.setattr(torch.version, "cuda", "13.2")  # without a GPU it does not matter
    build.check_pytorch()
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    with pytest.raises(SimulationError, match=r"has a CUDA GPU or is built for ROCm.*CUDA_VISIBLE_DEVICES="):
        build.check_pytorch()
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch, "__version__", "2.3.1+cpu")
    with pytest.raises(SimulationError, match=r"PyTorch 2.3.1\+cpu is not supported, only 2.13, 2.14, 2.15"):
        build.check_pytorch()


def test_a_mac_is_refused(monkeypatch):
    monkeypatch.setattr(torch.backends.mps, "is_built", lambda: True)
    with pytest.raises(SimulationError, match="has the real MPS"):
        build.check_pytorch()


@pytest.fixture
def not_built(monkeypatch):
    """Let this PyTorch be one that does not have the device yet."""
    monkeypatch.setattr(torch.backends.mps, "is_built", lambda: False)


@pytest.mark.parametrize(
    ("compiler", "message"),
    [
        ("no-such-compiler", "there is no C++ compiler 'no-such-compiler'; install one"),
        ("false", "cannot compile"),
    ],
)
@pytest.mark.usefixtures("not_built")
def test_without_a_working_compiler(tmp_path, monkeypatch, capsys, compiler, message):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("CXX", compiler)
    assert main(["--compile"]) == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 2  # after the line that says what it is doing
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


@pytest.mark.usefixtures("not_built")
def test_compile_prints_library_path(capsys):
    """Why not, says test_without_a_working_compiler."""
    assert main(["--compile"]) == 0
    assert capsys.readouterr() == (f"{build.cache_folder() / build.NAME}.so\n", "")


@pytest.mark.parametrize("words", [[], ["--compile", "script.py"]])
def test_a_script_or_compiling_but_not_both(capsys, words):
    with pytest.raises(SystemExit) as left:
        main(words)
    assert left.value.code == 2
    assert "name a script, or --compile and no script" in capsys.readouterr().err


@pytest.mark.usefixtures("not_built")
def test_device_of_the_wheel_is_taken_before_the_cache(tmp_path, monkeypatch):
    monkeypatch.setattr(build, "HERE", tmp_path)
    assert build.compiled_device().parent == build.cache_folder()
    carried = build.carried_device()
    carried.touch()
    assert build.compiled_device() == carried
    assert carried.name.startswith(f"torch-{build.installed_release()}.")


def test_device_of_another_pytorch_is_one_line(tmp_path, monkeypatch):
    library = tmp_path / "other.so"
    library.write_text("not compiled")
    monkeypatch.setattr(build, "compiled_device", lambda: library)
    with pytest.raises(
        SimulationError, match=r"does not fit PyTorch 2\.\S+ \(.*\); install .* or remove /"
    ) as raised:
        build.load_device()
    assert "\n" not in str(raised.value)
