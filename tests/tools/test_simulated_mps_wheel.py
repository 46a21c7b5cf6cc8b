"""What others install of the simulated device: what is packed, and that it needs no compiler."""

import os
import platform
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from tools.checks.coverage_data import SIMULATED_PYTHON
from tools.downloads import project_files

pytestmark = [
    pytest.mark.program,
    pytest.mark.skipif(platform.system() == "Darwin", reason="the simulated device is for Linux"),
]
ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "tests" / "simulated_mps"
# The environments have setuptools; pip would download another.
OFFLINE = {
    **os.environ,
    "PIP_NO_INDEX": "1",
    "PIP_NO_BUILD_ISOLATION": "0",
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
}
SCRIPT = """
import torch
print(torch.__version__, torch.ones(3, device="mps").sum().item())
try:
    torch.linalg.eig(torch.eye(2, device="mps"))
except NotImplementedError:
    print("refused")
"""


@pytest.fixture
def copy(tmp_path):
    """Return a copy of what git has of the package, since building leaves files beside the sources."""
    folder = tmp_path / "copy"
    for path in (ROOT / name for name in project_files(ROOT)):
        if path.is_relative_to(PACKAGE):
            target = folder / path.relative_to(PACKAGE)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(path.read_bytes())
    return folder


def test_source_distribution_has_all_that_others_need(copy):
    command = [sys.executable, "-c", "from setuptools import build_meta; build_meta.build_sdist('..')"]
    subprocess.run(command, cwd=copy, check=True, capture_output=True)
    (archive,) = copy.parent.glob("*.tar.gz")
    with tarfile.open(archive) as packed:
        names = {name.partition("/")[2] for name in packed.getnames()}
    ours = {path.relative_to(PACKAGE).as_posix() for path in PACKAGE.glob("simulated_mps/*.*")}
    assert len(ours) > 20
    assert names >= {name for name in ours if not name.endswith(".so")}
    assert names >= {
        "LICENSE",
        "CHANGELOG.md",
        "README.md",
        "README.zh.md",
        "action.yml",
        "tests/test_build.py",
    }


def test_without_compiled_devices_wheel_fits_every_machine(copy):
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--wheel-dir", copy.parent, copy]
    subprocess.run(command, env=OFFLINE, check=True, capture_output=True)
    (wheel,) = copy.parent.glob("*.whl")
    assert wheel.name.endswith("-py3-none-any.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    assert names >= {"simulated_mps/py.typed", "simulated_mps/device.cpp", "simulated_mps_autoload.py"}
    assert any(name.endswith("licenses/LICENSE") for name in names)


@pytest.mark.long  # compiles twice
def test_wheel_needs_no_compiler(copy, tmp_path):
    """With the two releases of PyTorch that are at hand, in environments without a device of their own."""
    pythons = [SIMULATED_PYTHON, Path(sys.executable)]
    command = [sys.executable, copy / "build_wheel.py", "--out", tmp_path, *pythons]
    subprocess.run(command, cwd=ROOT, env=OFFLINE, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    assert f"-cp3{sys.version_info.minor}-linux_" in wheel.name
    install = [sys.executable, "-m", "pip", "install", "--no-deps", "--target", tmp_path / "site", wheel]
    subprocess.run(install, env=OFFLINE, check=True, capture_output=True)
    (tmp_path / "script.py").write_text(SCRIPT)
    for python in pythons:
        variables = {"PATH": "/nowhere", "HOME": str(tmp_path), "PYTHONPATH": str(tmp_path / "site")}
        run = [ROOT / python, "-m", "simulated_mps", "script.py"]
        done = subprocess.run(run, cwd=tmp_path, env=variables, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert done.stdout.endswith(" 3.0\nrefused\n")
        assert "compiling" not in done.stderr
    assert not (tmp_path / ".cache").exists()
