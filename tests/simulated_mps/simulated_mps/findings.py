"""What happens on the device, each with its place in the user's code and the test that ran.

The compiled device calls `note` for what is rare: missing operators, fallbacks, refusals, waits, copies. An
operator that computes is only counted there, so that it costs no Python.
"""

import os
import sys
import sysconfig
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from types import FrameType, TracebackType

import torch

TEST = (
    "PYTEST_CURRENT_TEST"  # set by pytest, and so in processes that a test starts: "test_a.py::test_b (call)"
)

# What the device tells, and what `--fail-on` calls it; an operator may come with it.
KINDS = {
    "MISSING": "missing",
    "fell back": "fallback",
    "refused Double": "float64",
    "refused ComplexDouble": "float64",
    "no gradient": "gradient",
    "wrong values": "wrong",
    "item": "waits",
    "wait": "waits",
    "mps to cpu": "waits",
    "limit": "limit",  # of the simulation, where a Mac may have none; no kind of `--fail-on`
}
NAMES = {"refused Double": "float64", "refused ComplexDouble": "complex128"}
RAISE = ("missing", "float64", "refused", "gradient", "limit")  # their calls end with an error


@dataclass(frozen=True)
class Finding:
    """Something that happened on the device at one place."""

    event: str  # in the device's words
    operator: str  # such as "aten::linalg_eig", or ""
    file: str  # in full, or "" where no line of the user's was running
    line: int
    test: str  # the first that came by, or ""
    expected: bool = False  # it made a test fail that is marked by xfail_on_mps

    @property
    def kind(self) -> str:
        """What `--fail-on` calls it, or ""."""
        return KINDS.get(self.event, "refused" if self.event.startswith("refused") else "")

    @property
    def what(self) -> str:
        """The operator, or what took its part."""
        return self.operator or NAMES.get(self.event, self.event.removeprefix("refused ").replace(" ", "-"))

    def place(self, root: Path) -> str:
        """Return "file:line", seen from `root`."""
        return f"{self.path(root)}:{self.line}" if self.file else "outside your code"

    def path(self, root: Path) -> str:
        """Return the file, seen from `root` where it lies below."""
        path = Path(self.file)
        return path.relative_to(root).as_posix() if path.is_relative_to(root) else self.file


# ---- Places ------------------------------------------------------------------------------------------------

PASSED_BY, LIBRARY, REPR, USER = range(4)
SEPARATED = ("/site-packages/", "/dist-packages/")
IN_PYTEST = ("/_pytest/_io/", "/_pytest/_code/", "/_pytest/assertion/")
OURS_AND_TORCH = tuple(f"{Path(module).parent}/" for module in (__file__, torch.__file__))
OF_PYTHON = tuple(f"{sysconfig.get_path(name)}/" for name in ("stdlib", "platstdlib"))
PROGRAMS = f"{sysconfig.get_path('scripts')}/"  # such as pytest

kinds_of_files: dict[str, int] = {}


def kind_of_file(file: str) -> int:
    """Return whose code `file` holds: the user's, pytest's for tracebacks, a library's, or of no interest."""
    if any(part in file for part in IN_PYTEST):
        return REPR
    if file.startswith(OURS_AND_TORCH):
        return PASSED_BY
    if any(part in file for part in SEPARATED) or file.startswith(PROGRAMS):
        return LIBRARY
    return PASSED_BY if file.startswith(("<frozen", *OF_PYTHON)) else USER


def find_place(frame: FrameType | None) -> tuple[str, int] | None:
    """Return file and line of the user's innermost code; None if pytest shows a tensor in a traceback."""
    in_torch = True
    while frame is not None:
        file = frame.f_code.co_filename
        kind = kinds_of_files.get(file)
        if kind is None:
            kind = kinds_of_files[file] = kind_of_file(file)
        if kind == USER:
            return file, frame.f_lineno
        if kind == REPR and in_torch:
            return None
        in_torch = in_torch and kind == PASSED_BY
        frame = frame.f_back
    return "", 0


def in_full(file: str) -> str:
    """Return the path of a file of code; text that was executed, such as "<string>", keeps its name."""
    return file if file.startswith("<") else str(Path(file).absolute())


def waiting_for_backward() -> Iterator[FrameType]:
    """Yield the frames of threads that wait for a backward pass, which computes in a thread of its own."""
    for frame in sys._current_frames().values():
        inner: FrameType | None = frame
        while inner is not None and inner.f_code.co_filename.startswith(OURS_AND_TORCH):
            if inner.f_code.co_name == "_engine_run_backward":
                yield inner
            inner = inner.f_back


def lines_of(traceback: TracebackType | None) -> Iterator[tuple[str, int]]:
    """Yield file and line of each call of a traceback."""
    while traceback is not None:
        yield traceback.tb_frame.f_code.co_filename, traceback.tb_lineno
        traceback = traceback.tb_next


# ---- Counts ------------------------------------------------------------------------------------------------

counts: Counter[Finding] = Counter()
known: dict[tuple[str, str, str, int], Finding] = {}
last_error: Finding | None = None  # of those that end with one
lock = threading.RLock()  # a signal's handler may come by again
os.register_at_fork(after_in_child=lock._at_fork_reinit)  # type: ignore[attr-defined]


def note(event: str, operator: str) -> None:
    """Count what the device tells, at the place of the user's code that runs; called by the device."""
    add(event, operator, find_place(sys._getframe().f_back or next(waiting_for_backward(), None)))


def note_error(event: str, operator: str, traceback: TracebackType | None) -> None:
    """Count an error that PyTorch raised before the device was asked, at the user's innermost line."""
    users = [place for place in lines_of(traceback) if kind_of_file(place[0]) == USER]
    add(event, operator, users[-1] if users else ("", 0))


def add(event: str, operator: str, place: tuple[str, int] | None) -> None:
    """Count something at a place, None: where it does not count."""
    global last_error
    if place is None:
        return
    key = (event, operator, *place)
    with lock:
        finding = known.get(key)
        if finding is None:
            file, line = place
            test = os.environ.get(TEST, "").rpartition(" ")[0]
            finding = Finding(event, operator, file and in_full(file), line, test)
            known[key] = finding
        counts[finding] += 1
        if finding.kind in RAISE:
            last_error = finding


def error_behind(traceback: TracebackType | None) -> Finding | None:
    """Return what ended with the error of `traceback`, if the device raised it."""
    if last_error is None:
        return None
    places = ((in_full(file), line) for file, line in lines_of(traceback))
    return last_error if (last_error.file, last_error.line) in places else None


def expect(finding: Finding) -> None:
    """Count one of `finding` as expected."""
    with lock:
        counts[finding] -= 1
        counts[replace(finding, expected=True)] += 1
