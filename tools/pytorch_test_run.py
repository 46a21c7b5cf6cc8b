"""A pytest plugin that runs PyTorch's test/test_mps.py off a Mac, and writes down what became of each test.

tools/measuring/simulated_mps.py uses it. With --record FILE, every test adds two lines to FILE, one before it
runs and one after, so that a run that crashed can go on behind the test that crashed it.
"""

from __future__ import annotations

import json
import platform
import signal
import subprocess
import sys
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

MACOS = "15.5"  # what the tests are told; the newer the version, the fewer tests are left out
MEMORY = 16 << 30  # bytes that the Mac is said to have
SECONDS = 60  # that one test may take

Reporting = Generator[None, pytest.TestReport, pytest.TestReport]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option."""
    parser.addoption("--record", metavar="FILE", help="where to note the outcome of every test")


def pytest_configure(config: pytest.Config) -> None:
    """Answer the two questions that the tests ask about the Mac, and hide a package that may not fit."""
    change = pytest.MonkeyPatch()  # for as long as this process lives
    # The tests do without it, but not with a build for another PyTorch.
    change.setitem(sys.modules, "torchvision", None)
    change.setattr(platform, "mac_ver", lambda *_: (MACOS, ("", "", ""), "arm64"))
    ask = subprocess.check_output

    def answer(command: list[str], *args: Any, **options: Any) -> bytes:
        if command == ["sysctl", "-n", "hw.memsize"]:
            return str(MEMORY).encode()
        return ask(command, *args, **options)

    change.setattr(subprocess, "check_output", answer)


def record(config: pytest.Config) -> Path:
    """Return the file that holds the outcomes."""
    return Path(config.getoption("record"))


def read_record(path: Path) -> dict[str, dict[str, str]]:
    """Return the last line about every test: "test", "outcome" ("started" if it did not end), "message"."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return {entry["test"]: entry for entry in map(json.loads, lines)}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what an earlier run has tried."""
    known = read_record(record(config))
    items[:] = [item for item in items if name_of(item.nodeid) not in known]


def name_of(nodeid: str) -> str:
    """Return "Class::test" for a test of any file."""
    return nodeid.partition("::")[2]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Note that the test begins, and end it when it takes too long."""
    note(item.config, name_of(item.nodeid), "started")
    signal.signal(signal.SIGALRM, too_long)
    signal.alarm(SECONDS)
    try:
        return (yield)
    finally:
        signal.alarm(0)


def too_long(*_: object) -> None:
    """End a test that takes too long."""
    raise TimeoutError(f"the test took more than {SECONDS} s")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Reporting:
    """Note the outcome: passed, failed, skipped, xfailed (as on a Mac) or xpassed (fails on a Mac only)."""
    report = yield
    if report.when != "call" and report.outcome == "passed":
        return report
    outcome = report.outcome
    if hasattr(report, "wasxfail"):
        outcome = "xfailed" if outcome == "skipped" else "xpassed"
    message = "" if report.longrepr is None else str(report.longrepr)
    if message == "Unexpected success":
        outcome = "xpassed"
    if call.excinfo is not None:
        message = f"{call.excinfo.typename}: {call.excinfo.value}"
    note(item.config, name_of(item.nodeid), outcome, message[:600])
    return report


def note(config: pytest.Config, test: str, outcome: str, message: str = "") -> None:
    """Add a line to the record; it is on the disk before the test goes on."""
    with record(config).open("a", encoding="utf-8") as file:
        file.write(json.dumps({"test": test, "outcome": outcome, "message": message}) + "\n")
