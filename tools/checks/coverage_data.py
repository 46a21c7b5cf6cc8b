"""What a test run leaves for the proof: its device, its sources and the lines that each process executed.

Everything lies in `.cache/test-run/`. Coverage's static context is the device of the run, and
`patch = subprocess` (pyproject.toml) hands it on to the processes that tests start.
"""

from __future__ import annotations

import hashlib
import json
import platform
import shutil
import sqlite3
from importlib.metadata import version
from pathlib import Path

from coverage import CoverageData, CoverageException
from coverage.parser import PythonParser

from tools.checks.sections import section_files

RUN_FOLDER = Path(".cache/test-run")
COVERAGE_FILE = RUN_FOLDER / "coverage"  # coverage appends machine, process and a random word
RUN_RECORD = RUN_FOLDER / "run.json"

SIMULATED_MPS = "simulated-mps"  # the context of tests on the simulated device
SIMULATED_PYTHON = Path(".venv-sim/bin/python")  # tools/simulated_environment.sh makes it

Executed = dict[str, dict[int, set[str]]]  # file relative to the root: line: contexts


def this_machine() -> tuple[str, dict[str, str]]:
    """Return the context of a run here, which is the device that training would choose, and the versions."""
    import torch  # takes a second, and only this function needs it

    context = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    python = ".".join(platform.python_version_tuple()[:2])
    return context, {"python": python} | {
        package: version(package).partition("+")[0] for package in ("torch", "torchvision")
    }


def begin(root: Path, contexts: list[str], versions: dict[str, str]) -> None:
    """Start a test run: remove old coverage data, note devices, versions and the text of every source."""
    folder = root / RUN_FOLDER
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    run = {"contexts": contexts, "versions": versions, "sources": source_hashes(root)}
    (root / RUN_RECORD).write_text(json.dumps(run, indent=2), encoding="utf-8")


def source_hashes(root: Path) -> dict[str, str]:
    """Return the SHA-256 of every Python file that may hold sections."""
    files = [path for path in section_files(root) if path.suffix == ".py"]
    return {
        file.relative_to(root).as_posix(): hashlib.sha256(file.read_bytes()).hexdigest() for file in files
    }


def read_coverage(root: Path) -> Executed:
    """Read the coverage data of every process of the last test run.

    A process that was killed while it wrote leaves an unreadable file; it is named and left out, which
    can only make the proof harder.
    """
    together = CoverageData(no_disk=True)  # to ask it is 15 times as fast as to ask each file
    for path in sorted((root / RUN_FOLDER).glob(COVERAGE_FILE.name + ".*")):
        data = CoverageData(basename=str(path))
        try:
            data.read()
            together.update(data)
        except (CoverageException, sqlite3.Error) as error:
            print(f"left out the coverage data of a killed process: {path.name}: {error}")
    executed: Executed = {}
    for file in together.measured_files():
        # Processes that ran in another folder name their files absolutely.
        name = Path(file).relative_to(root.resolve()).as_posix() if Path(file).is_absolute() else file
        lines = executed.setdefault(name, {})
        for line, ran in together.contexts_by_lineno(file).items():
            lines.setdefault(line, set()).update(filter(None, ran))
    return executed


class SourceFile:
    """A file's statements, those of several lines folded to their first line, and who executed them."""

    def __init__(self, root: Path, path: str, executed: Executed) -> None:
        text = (root / path).read_text(encoding="utf-8")
        self.path = path
        self.lines = text.splitlines()
        self._parser = PythonParser(text=text, filename=path)  # no pattern of lines to exclude
        self._parser.parse_source()
        self._executed: dict[int, set[str]] = {}
        for line, contexts in executed.get(path, {}).items():
            self._executed.setdefault(self._parser.first_line(line), set()).update(contexts)

    def statements(self, first: int, last: int) -> set[int]:
        """Return the first lines of all statements that reach into the lines `first` to `last`."""
        return self._parser.first_lines(range(first, last + 1)) & self._parser.statements

    def contexts(self, statement: int) -> set[str]:
        """Return the contexts that executed the statement which starts at this line."""
        return self._executed.get(statement, set())

    def text(self, line: int) -> str:
        """Return a line without its indentation."""
        return self.lines[line - 1].strip()
