"""A step of the verification: a process of its own with a limit, and what became of it."""

import contextlib
import json
import re
import shlex
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from examples.check_claims import last_line, own_python, run_limited
from examples.verify_mac import second_number

ROOT = Path(__file__).resolve().parents[2]
NOT_TRIED, ENDED, HUNG = "not tried", "ended the process", "hung"
OUT_OF_TIME = "out of time"
DISAGREES = ("failed", "does not hold", "differs", ENDED, HUNG)
SIGNALS = {number.value for number in signal.Signals}
Found = dict[str, Any]  # the outcome and, where there are some: expected, found, figures, why


@dataclass(frozen=True)
class Place:
    """What decides which steps can be tried: the device, the system, and PyTorch's release."""

    device: str  # "mps" or "cpu"
    system: str  # as platform.system() names it
    release: str  # "2.15"
    cuda: bool  # whether this PyTorch was built with CUDA
    full: bool = False

    @property
    def minor(self) -> int:
        """The second number of the release."""
        return second_number(self.release)

    def why_not(self, needs: str) -> str:
        """Return why what needs "mps", "macos" or "no cuda" cannot be tried here; "" where it can."""
        if needs == "mps" and self.device != "mps":
            return "no MPS here"
        if needs == "macos" and self.system != "Darwin":
            return f"this is {self.system}"
        return "this PyTorch has CUDA" if needs == "no cuda" and self.cuda else ""


@dataclass(frozen=True)
class Step:
    """One thing that is tried; `run` gets the seconds that it may take."""

    kind: str
    name: str
    seconds: float  # an estimate
    run: Callable[[float], Found]
    limit: float = 60.0
    why: str = ""  # why it is not tried
    code: str = (
        ""  # the hash of the code that it runs, so that the site can tell whether a page still shows it
    )

    @property
    def key(self) -> str:
        """The name by which a finished step is known."""
        return f"{self.kind} {self.name}"

    def attempt(self, left: float) -> Found:
        """Run the step, at most for the seconds that are left; return what became of it."""
        began, limit = time.monotonic(), min(self.limit, left)
        if self.why:
            found = not_tried(self.why)
        elif left < 1:
            found = not_tried(OUT_OF_TIME)
        else:
            try:
                found = self.run(limit)
            except Ended as ended:
                found = ended.found(limit)
            if found["outcome"] == HUNG and limit < self.limit:  # it might have ended in its own limit
                found = not_tried(OUT_OF_TIME)
        if self.code and found["outcome"] != NOT_TRIED:
            found = {**found, "figures": {"code": self.code}}
        return {"kind": self.kind, "name": self.name, **found, "seconds": round(time.monotonic() - began, 1)}


def not_tried(why: str) -> Found:
    """Return that a step was not tried."""
    return {"outcome": NOT_TRIED, "why": why}


class Ended(Exception):
    """A process that took too long, or that a signal has ended."""

    def __init__(self, code: int | None, output: str = "") -> None:
        self.code, self.output = code, output

    def found(self, limit: float) -> Found:
        """Return it as what a step found."""
        if self.code is None:
            return {"outcome": HUNG, "expected": f"an end within {limit:.0f} s", "found": "none"}
        text = f"signal {self.code}: {last_line(self.output)}"
        return {"outcome": ENDED, "expected": "the process goes on to its end", "found": text}


def finish(command: str, folder: Path, seconds: float, more: Mapping[str, str]) -> tuple[int, str]:
    """Run a command of bash, as the tests run those of the pages; return exit code and output.

    Raises Ended for one that hangs or is killed by a signal.
    """
    code, output = run_limited(["bash", "-eu", "-o", "pipefail", "-c", command], folder, more, seconds)
    if code is None:
        raise Ended(None)
    number = -code if code < 0 else code - 128  # shells report a signal of their program like this
    if number in SIGNALS:
        raise Ended(number, output)
    return code, output


@contextlib.contextmanager
def scratch() -> Iterator[tuple[Path, dict[str, str]]]:
    """Yield an empty folder for a step, and the environment in which `python` is this Python."""
    with tempfile.TemporaryDirectory() as name:
        folder, programs = Path(name, "empty"), Path(name, "bin")
        folder.mkdir()
        programs.mkdir()
        yield folder, own_python(programs)


def missing_package(output: str) -> str:
    """Return why a program had to end for the lack of a package; "" where that was not the reason."""
    missing = re.search(r"ModuleNotFoundError: No module named '?([\w.]+)", output)
    return f"{missing[1]} is not installed here" if missing else ""


def marked(output: str, mark: str) -> Any:
    """Return the JSON behind a mark in the last such line of an output, None where there is none."""
    lines = [line for line in output.splitlines() if line.startswith(mark)]
    return json.loads(lines[-1].removeprefix(mark)) if lines else None


def this_python(*words: str) -> str:
    """Return a command of the shell that runs this Python."""
    return shlex.join([sys.executable, *words])
