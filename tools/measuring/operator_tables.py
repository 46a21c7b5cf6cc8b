"""The operators of PyTorch by release, from macOS wheels: for the pages and for the simulated device.

tools.measuring.releases calls it. What counts is the list in each wheel, native_functions.yaml: a kernel of
an entry's own, or of the entry whose kernels it uses. Some releases compose a few more in Python; they are
found in all its files, wherever they are registered for MPS.

A mark stands for one entry in one release: "x" it has an MPS kernel, "c" it is composed of other operators,
"-" neither, but CUDA has a kernel, "o" neither has one, "." the release does not have it.
"""

from __future__ import annotations

import json
import re
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from snippets.operator_support import LIST, Operator, read_operators
from tools.ranges import TABLES_FROM
from tools.versions import DATA, number

OUTPUT = DATA / "operators.json"
SIMULATED = DATA.parents[1] / "tests" / "simulated_mps" / "simulated_mps" / "kernels.json"
ABSENT = "."
# A library for one device, and a registration with that library or with the device named by itself.
LIBRARY = re.compile(r'(\w+) = [\w.]*Library\("aten", "IMPL", "MPS"\)')
REGISTRATION = re.compile(r'(\w+)\.impl\(\s*"(?:aten::)?([\w.]+)",\s*\w+(?:,\s*"(\w+)")?\s*\)')


@dataclass(frozen=True)
class Release:
    """The operators of one PyTorch."""

    version: str  # "2.15.0"
    commit: str
    operators: Mapping[str, Operator]
    in_python: frozenset[str] = frozenset()  # composed for MPS by Python code

    @property
    def minor(self) -> str:
        """The release as people name it: "2.15"."""
        return ".".join(self.version.split(".")[:2])

    def keys(self, name: str) -> set[str]:
        """Return the devices with a kernel of `name`, of its own or of the entry whose kernels it uses."""
        operator = self.operators[name]
        return self.operators[operator.delegate].keys if operator.delegate else operator.keys

    def mark(self, name: str) -> str:
        """Return the mark of `name`, see above."""
        if name not in self.operators:
            return ABSENT
        keys = self.keys(name)
        in_python = {name, self.operators[name].delegate} & self.in_python
        composed = not keys or in_python or any(key.startswith("Composite") for key in keys)
        return "x" if "MPS" in keys else "c" if composed else "-" if "CUDA" in keys else "o"

    def with_kernel(self, device: str) -> set[str]:
        """Return the operators that have a kernel for `device`, "MPS" or "CUDA"."""
        return {name for name in self.operators if device in self.keys(name)}


def registered_for_mps(code: str) -> set[str]:
    """Return the operators that a Python file of PyTorch registers for MPS."""
    libraries = set(LIBRARY.findall(code))
    found = REGISTRATION.findall(code)
    return {name for library, name, key in found if key == "MPS" or (not key and library in libraries)}


def read_wheel(wheel: Path) -> Release:
    """Return the operators of the PyTorch in `wheel`. Raises ValueError when it does not say which it is."""
    with zipfile.ZipFile(wheel) as content, tempfile.TemporaryDirectory() as folder:
        text = content.read("torch/version.py").decode()
        operators = read_operators(Path(content.extract(f"torchgen/{LIST}", folder)))
        files = [name for name in content.namelist() if re.fullmatch(r"torch/.*\.py", name)]
        in_python = frozenset().union(*(registered_for_mps(content.read(name).decode()) for name in files))
    version = re.search(r"__version__ = '([\d.]+)", text)
    commit = re.search(r"git_version = '(\w+)'", text)
    if not version or not commit:
        raise ValueError(f"{wheel}: torch/version.py lacks the version or the commit")
    return Release(version[1], commit[1], operators, in_python)


def make_marks(releases: Sequence[Release]) -> dict[str, str]:
    """Return the marks of every operator, one per release."""
    names = sorted({name for release in releases for name in release.operators})
    return {name: "".join(release.mark(name) for release in releases) for name in names}


def counts(release: Release) -> dict[str, str | int]:
    """Return what a release is and how many entries it has: in all, and by what they have a kernel for."""
    mps, cuda = release.with_kernel("MPS"), release.with_kernel("CUDA")
    return {
        "version": release.version,
        "commit": release.commit,
        "entries": len(release.operators),
        "mps": len(mps),
        "cuda": len(cuda),
        "cuda_only": len(cuda - mps),
        "missing": sum(release.mark(name) == "-" for name in release.operators),
    }


def write(releases: Sequence[Release], path: Path = OUTPUT) -> None:
    """Write a line per release, and a line per series of marks with all the operators that have it."""
    together: dict[str, list[str]] = {}
    for name, marks in make_marks(releases).items():
        together.setdefault(marks, []).append(name)
    lines = [f"{json.dumps(release.minor)}: {json.dumps(counts(release))}" for release in releases]
    series = [
        f"{json.dumps(marks)}: {json.dumps(' '.join(names))}" for marks, names in sorted(together.items())
    ]
    parts = (
        f'"{key}": {{\n' + ",\n".join(rows) + "\n}" for key, rows in (("releases", lines), ("marks", series))
    )
    path.write_text("{\n" + ",\n".join(parts) + "\n}\n", encoding="utf-8")


def write_simulated(releases: Sequence[Release], path: Path = SIMULATED) -> None:
    """Write what the simulated device knows: the marks of all operators that have a kernel in one release.

    Those of "sparse" take sparse tensors.
    """
    releases = [release for release in releases if number(release.minor) >= number(TABLES_FROM)]
    kernels = {
        name: re.sub("[o.]", "-", marks) for name, marks in make_marks(releases).items() if "x" in marks
    }
    names = sorted({name for release in releases for name in release.with_kernel("SparseMPS")})
    sparse = {
        name: "".join("x" if name in release.with_kernel("SparseMPS") else "-" for release in releases)
        for name in names
    }
    known = {release.minor: {"version": release.version, "commit": release.commit} for release in releases}
    content = {"releases": known, "kernels": kernels, "sparse": sparse}
    path.write_text(json.dumps(content, indent=0) + "\n", encoding="utf-8")
