"""Upgrading to a nightly and back, in a throw-away environment, from an index of tiny packages on disk."""

import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.tiny_wheels import make_wheel

pytestmark = [pytest.mark.program, pytest.mark.unmeasured]

SCRIPT = Path(__file__).resolve().parents[2] / "examples" / "upgrade_nightly.py"
STABLE, NIGHTLY, NEWER = "92.15.0", "92.16.0.dev20261118", "92.16.0.dev20261120"  # exist nowhere else
VISION, VISION_NIGHTLY = "0.29.2", "0.30.0.dev20261118"
PIP = Path(find_spec("pip").origin).parent


class Environment:
    """A virtual environment that borrows the pip of the tests."""

    def __init__(self, folder):
        self.python, self.nightly = folder / "environment" / "bin" / "python", folder / "nightly"
        self.packages = next((folder / "environment").glob("lib/python*/site-packages"))
        self.saved = folder / "environment" / "pytorch-before-nightly"
        others = ("PIP_", "COV", "UV_")
        keep = {name: value for name, value in os.environ.items() if not name.startswith(others)}
        self.variables = keep | {
            "PIP_INDEX_URL": (folder / "stable").as_uri(),
            "PIP_CONFIG_FILE": os.devnull,
            "PIP_NO_CACHE_DIR": "1",
        }

    def upgrade(self, *options, answer="", index=True):
        address = self.nightly.as_uri()
        where = ("--index-url", address) if index else ()
        return subprocess.run(
            [self.python, SCRIPT, *options, *where],
            env=self.variables,
            input=answer,
            capture_output=True,
            text=True,
            check=False,
        )

    def version(self, package="torch"):
        found = [path.name for path in self.packages.glob(f"{package}-*.dist-info")]
        assert len(found) <= 1
        return found[0].removesuffix(".dist-info").partition("-")[2] if found else None


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """Return a folder with an environment that has a release, an index of releases, and one of nightlies."""
    folder = tmp_path_factory.mktemp("upgrade")
    stable, nightly = folder / "stable", folder / "nightly"
    make_wheel(stable, "sympy", "1.13")
    make_wheel(stable, "torch", STABLE, needs=["sympy", "triton; extra == 'none'"])
    make_wheel(stable, "torchvision", VISION, needs=["torch"])
    make_wheel(nightly, "sympy", "1.14")
    make_wheel(nightly, "torch", NIGHTLY, needs=["sympy>=1.14"])
    make_wheel(nightly, "torchvision", VISION_NIGHTLY, needs=["torch"])
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder / "environment")], check=True)
    made = Environment(folder)
    (made.packages / "pip").symlink_to(PIP)
    install = [made.python, "-m", "pip", "install", "torchvision"]
    subprocess.run(install, env=made.variables, check=True, capture_output=True)
    return folder


@pytest.fixture
def environment(prepared, tmp_path):
    """Return a copy of the prepared environment with its indexes."""
    shutil.copytree(prepared, tmp_path / "copy", symlinks=True)
    return Environment(tmp_path / "copy")


def test_there_and_back(environment):
    """The whole life: shown, refused, done, done again, back."""
    shown = environment.upgrade("--dry-run")
    assert shown.returncode == 0, shown.stderr
    assert f"installed  torch {STABLE}, torchvision {VISION}\nasking     " in shown.stdout
    assert f"newest     torch {NIGHTLY}, torchvision {VISION_NIGHTLY}\n" in shown.stdout
    assert f"--pre torch=={NIGHTLY} torchvision=={VISION_NIGHTLY} --index-url file://" in shown.stdout
    assert shown.stdout.endswith("nothing was changed\n")
    assert environment.upgrade(answer="n\n").stdout.endswith("Run it? [y/N] nothing was changed\n")
    assert (environment.version(), environment.saved.exists()) == (STABLE, False)

    done = environment.upgrade(answer="y\n")
    assert done.returncode == 0, done.stderr
    assert f"imported   torch {NIGHTLY}, torchvision {VISION_NIGHTLY}\n" in done.stdout
    assert (environment.version(), environment.version("sympy")) == (NIGHTLY, "1.14")
    (saved,) = environment.saved.iterdir()
    assert saved.read_text().split() == ["sympy==1.13", f"torch=={STABLE}", f"torchvision=={VISION}"]
    assert "the same: nothing to do" in environment.upgrade("--yes").stdout

    back = environment.upgrade("--restore", "--yes", index=False)
    assert back.returncode == 0, back.stderr
    assert f"imported   torch {STABLE}, torchvision {VISION}\n" in back.stdout
    assert (environment.version(), environment.version("sympy")) == (STABLE, "1.13")
    again = environment.upgrade("--restore", index=False)
    assert (again.returncode, "nothing to restore" in again.stderr) == (2, True)


@pytest.mark.parametrize(
    "code",
    ["raise ImportError('no symbol _mps')", pytest.param("__version__ = '92.15.9'", marks=pytest.mark.long)],
)
def test_broken_nightly_is_removed_again(environment, code):
    make_wheel(environment.nightly, "torch", NEWER, code, needs=["sympy"])
    done = environment.upgrade("--yes")
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    reason = "no symbol _mps" if "raise" in code else "what can be imported is torch 92.15.9"
    assert reason in done.stderr
    assert f"back are torch {STABLE}, torchvision {VISION}\n" in done.stderr
    assert (environment.version(), list(environment.saved.iterdir())) == (STABLE, [])


def test_both_reasons_are_told_without_a_previous_version(environment):
    for path in environment.packages.glob("*"):
        if path.name.startswith("torch"):
            shutil.rmtree(path)
    make_wheel(environment.nightly, "torch", NEWER, "raise ImportError('no symbol _mps')", needs=["sympy"])
    done = environment.upgrade("--yes")
    assert "installed  no PyTorch\n" in done.stdout
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert re.search(r"no symbol _mps; no PyTorch was installed before; to remove it: ", done.stderr)


def test_without_a_nightly_nothing_is_touched(environment):
    for wheel in environment.nightly.glob("torch/*"):
        wheel.unlink()
    make_wheel(environment.nightly, "torch", "92.15.1")
    done = environment.upgrade("--yes")
    assert done.returncode == 1
    assert re.search(r"error: file://\S+ has no nightly of torch .* only 92\.15\.1\n", done.stderr)
    assert (environment.version(), environment.saved.exists()) == (STABLE, False)


def test_an_index_that_cannot_be_reached_is_one_line(environment):
    environment.nightly = environment.nightly / "nowhere"
    done = environment.upgrade("--yes")
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert done.stderr.startswith("error: looking for a nightly failed: ERROR: ")
    assert f"open {environment.nightly.as_uri()}/torch/ in a browser" in done.stderr
    assert environment.version() == STABLE


def test_uv_where_there_is_no_pip(environment, tmp_path):
    """A stand-in for uv notes how it is called, and answers as uv 0.13.8 does."""
    (environment.packages / "pip").unlink()
    bare = environment.upgrade("--dry-run")
    assert (bare.returncode, "neither pip nor uv" in bare.stderr) == (2, True)
    uv, noted = tmp_path / "tools" / "uv", tmp_path / "noted"
    uv.parent.mkdir()
    uv.write_text(
        f'#!/bin/sh\necho "$@" >> {noted}\n'
        f"printf ' - torch==2.15.0\\n + torch=={NIGHTLY}\\n + torchvision=={VISION_NIGHTLY}\\n' >&2\n"
    )
    uv.chmod(0o755)
    environment.variables["PATH"] = f"{uv.parent}:/usr/bin:/bin"
    shown = environment.upgrade("--dry-run")
    assert f"newest     torch {NIGHTLY}, torchvision {VISION_NIGHTLY}\n" in shown.stdout
    where = f"--index-url {environment.nightly.as_uri()}"
    target = f"pip install --python {environment.python}"
    assert noted.read_text() == f"{target} --dry-run --pre --upgrade torch torchvision {where}\n"
    assert f"{uv} {target} --pre torch=={NIGHTLY} torchvision=={VISION_NIGHTLY} {where}\n" in shown.stdout


def test_only_in_a_virtual_environment(environment):
    outside = subprocess.run(
        [os.path.realpath(sys.executable), "-I", SCRIPT, "--dry-run"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert outside.returncode == 2
    assert outside.stderr.startswith("error: this Python is not in a virtual environment")


@pytest.mark.parametrize(
    ("label", "kind"), [("", "cpu"), ("+cpu", "cpu"), ("+cu132", "cu132"), ("+rocm6.4", "rocm6.4")]
)
def test_the_index_is_that_of_the_installed_build(environment, label, kind):
    """On PyPI, the version of a CUDA build has no label; the build itself knows."""
    (environment.packages / "torch" / "version.py").write_text(f"__version__ = '2.15.0{label}'\n")
    program = f"import sys; sys.path.insert(0, {str(SCRIPT.parent)!r}); import upgrade_nightly as u; "
    found = subprocess.run(
        [environment.python, "-c", program + "print(u.index_for_this_machine())"],
        env=environment.variables,
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout == f"https://download.pytorch.org/whl/nightly/{kind}\n"


@pytest.mark.parametrize(
    ("pins", "extra"),
    [
        ("torch==2.15.0", []),
        ("torch==2.15.0+cpu", ["--extra-index-url", "https://download.pytorch.org/whl/cpu"]),
        (f"torch=={NIGHTLY}", ["--extra-index-url", "https://download.pytorch.org/whl/nightly/cpu"]),
        (f"torch=={NIGHTLY}+cu132", ["--extra-index-url", "https://download.pytorch.org/whl/nightly/cu132"]),
    ],
)
def test_versions_are_fetched_from_where_they_are(tmp_path, pins, extra):
    from examples.upgrade_nightly import restore_command

    (tmp_path / "pins.txt").write_text(f"sympy==1.13\n{pins}\n")
    file = tmp_path / "pins.txt"
    by_pip = [sys.executable, "-m", "pip", "install"]
    assert restore_command(by_pip, file) == [*by_pip, "-r", str(file), *extra]
    # uv looks for a package in the first index alone that has it, and PyTorch's have NumPy as well.
    all_indexes = ["--index-strategy", "unsafe-best-match"] if extra else []
    by_uv = ["uv", "pip", "install"]
    assert restore_command(by_uv, file) == [*by_uv, "-r", str(file), *extra, *all_indexes]
