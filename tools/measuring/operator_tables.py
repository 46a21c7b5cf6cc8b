"""Write docs/data/operators.json, the operators of PyTorch by release, from macOS wheels.

    python -m tools.measuring.operator_tables FOLDER

FOLDER holds wheels, one of each release, as `pip download --no-deps --only-binary=:all: --platform
macosx_26_0_arm64 --python-version 3.12 torch==2.15.0` fetches them on any machine. What counts is the list
in each wheel, native_functions.yaml: a kernel of an entry's own, or of the entry whose kernels it uses. Some
releases compose a few more in Python; they are found in all its files, wherever they are registered for MPS.

A mark stands for one entry in one release: "x" it has an MPS kernel, "c" it is composed of other operators,
"-" neither, "." the release does not have it.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from snippets.operator_support import LIST, Operator, read_operators

DATA = Path(__file__).resolve().parents[2] / "docs" / "data" / "operators.json"
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
        return "x" if "MPS" in keys else "c" if composed else "-"

    def with_kernel(self, device: str) -> set[str]:
        """Return the operators that have a kernel for `device`, "MPS" or "CUDA"."""
        return {name for name in self.operators if device in self.keys(name)}


def registered_for_mps(code: str) -> set[str]:
    """Return the operators that a Python file of PyTorch registers for MPS."""
    libraries = set(LIBRARY.findall(code))
    found = REGISTRATION.findall(code)
    return {name for library, name, key in found if key == "MPS" or (not key and library in libraries)}


def read_wheel(wheel: Path) -> Release:
    """Return the operators of the PyTorch in `wheel`."""
    with zipfile.ZipFile(wheel) as content, tempfile.TemporaryDirectory() as folder:
        text = content.read("torch/version.py").decode()
        operators = read_operators(Path(content.extract(f"torchgen/{LIST}", folder)))
        files = [name for name in content.namelist() if re.fullmatch(r"torch/.*\.py", name)]
        in_python = frozenset().union(*(registered_for_mps(content.read(name).decode()) for name in files))
    version = re.search(r"__version__ = '([\d.]+)", text)[1]
    return Release(version, re.search(r"git_version = '(\w+)'", text)[1], operators, in_python)


def base(name: str) -> str:
    """Return the name without its overload: "add.Tensor" becomes "add"."""
    return name.partition(".")[0]


def make_tables(releases: list[Release]) -> dict:
    """Return the document: `releases` with counts, and every operator of the newest one in a group.

    `changed` (got or lost its kernel) holds entries with a mark per release; `missing` entries (CUDA has a
    kernel, MPS has none, and nothing composes it); the others names without overloads.
    """
    releases = sorted(releases, key=lambda release: [int(part) for part in release.version.split(".")])
    newest = releases[-1]
    names = sorted({name for release in releases for name in release.operators})
    marks = {name: "".join(release.mark(name) for release in releases) for name in names}
    lacking = newest.with_kernel("CUDA") - newest.with_kernel("MPS")
    changed = {name for name in names if "x" in marks[name] and set(marks[name]) != {"x"}}
    missing = {name for name in lacking if newest.mark(name) == "-"}
    rest = newest.operators.keys() - changed - missing
    groups = {"x": "kernel", "c": "composed", "-": "elsewhere"}
    return {
        "releases": {release.minor: counts(release) for release in releases},
        "changed": {name: marks[name] for name in sorted(changed)},
        "missing": sorted(missing),
        **{
            group: sorted({base(name) for name in rest if newest.mark(name) == mark})
            for mark, group in groups.items()
        },
    }


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
        "missing": sum(release.mark(name) == "-" for name in cuda - mps),
    }


def write(document: dict, path: Path = DATA) -> None:
    """Write a line per release and group, so that a new release changes few lines."""
    parts = []
    for group, content in document.items():
        text = json.dumps(content)
        if isinstance(content, dict):
            lines = (f"{json.dumps(name)}: {json.dumps(value)}" for name, value in content.items())
            text = "{\n" + ",\n".join(lines) + "\n}"
        parts.append(f'"{group}": {text}')
    path.write_text("{\n" + ",\n".join(parts) + "\n}\n", encoding="utf-8")


def main(words: list[str]) -> int:
    """Write the tables; return the exit code."""
    wheels = sorted(Path(words[0]).glob("torch-*.whl")) if len(words) == 1 else []
    if not wheels:
        print(f"error: name a folder with macOS wheels of PyTorch\n{__doc__}", file=sys.stderr)
        return 2
    write(make_tables([read_wheel(wheel) for wheel in wheels]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
