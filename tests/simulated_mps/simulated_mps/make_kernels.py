"""Write kernels.json from macOS wheels of PyTorch.

    python -m simulated_mps.make_kernels FOLDER

FOLDER holds wheels, one of each release, as `pip download --no-deps --only-binary=:all: --platform
macosx_26_0_arm64 --python-version 3.12 torch==2.15.0` fetches them on any machine.
"""

import json
import re
import sys
import tempfile
import zipfile
from pathlib import Path

from simulated_mps.errors import SimulationError
from simulated_mps.kernels import TABLE
from simulated_mps.native_functions import read_entries, read_marks

LIST = "torchgen/packaged/ATen/native/native_functions.yaml"
# A library for one device, and a registration with that library or with the device named by itself.
LIBRARY = re.compile(r'(\w+) = [\w.]*Library\("aten", "IMPL", "MPS"\)')
REGISTRATION = re.compile(r'(\w+)\.impl\(\s*"(?:aten::)?([\w.]+)",\s*\w+(?:,\s*"(\w+)")?\s*\)')


def registered_for_mps(code: str) -> set[str]:
    """Return the operators that a Python file of PyTorch registers for MPS."""
    libraries = set(LIBRARY.findall(code))
    found = REGISTRATION.findall(code)
    return {name for library, name, key in found if key == "MPS" or (not key and library in libraries)}


def read_wheel(wheel: Path) -> tuple[str, str, dict[str, str]]:
    """Return version, commit and marks (see read_marks) of the PyTorch in `wheel`."""
    with zipfile.ZipFile(wheel) as content, tempfile.TemporaryDirectory() as folder:
        version = content.read("torch/version.py").decode()
        path = Path(content.extract(LIST, folder))
        marks, entries = read_marks(path), read_entries(path)
        files = [name for name in content.namelist() if re.fullmatch(r"torch/.*\.py", name)]
        in_python = set().union(*(registered_for_mps(content.read(name).decode()) for name in files))
    for name, entry in entries.items():
        if marks[name] == "-" and {name, entry.delegate} & in_python:
            marks[name] = "c"  # up to 2.12 GroupNorm, from 2.10 to 2.13 linalg_lu_solve
    number = re.search(r"__version__ = '([\d.]+)", version)[1]
    return number, re.search(r"git_version = '(\w+)'", version)[1], marks


def make_table(wheels: list[Path]) -> dict:
    """Return the table of all `wheels`: a mark per release for every operator with a kernel in one of them.

    An operator that a release does not have is marked "-", too.
    """
    found = sorted(
        (read_wheel(wheel) for wheel in wheels), key=lambda one: [int(part) for part in one[0].split(".")]
    )
    releases = {
        ".".join(version.split(".")[:2]): {"version": version, "commit": commit}
        for version, commit, _ in found
    }
    names = sorted({name for _, _, marks in found for name, mark in marks.items() if mark == "x"})
    kernels = {name: "".join(marks.get(name, "-") for _, _, marks in found) for name in names}
    return {"releases": releases, "kernels": kernels}


def main(words: list[str]) -> int:
    """Write the table; return the exit code."""
    wheels = sorted(Path(words[0]).glob("torch-*.whl")) if len(words) == 1 else []
    if not wheels:
        raise SimulationError(f"name a folder with wheels of PyTorch for macOS\n{__doc__}")
    TABLE.write_text(json.dumps(make_table(wheels), indent=0) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
