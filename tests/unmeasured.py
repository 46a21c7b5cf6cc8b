"""A pytest plugin of whole test runs: tests go without coverage where it would take time and prove nothing.

    python -m coverage run -m pytest -p tests.unmeasured

Coverage is there for the proof that every shown line ran (tools/checks/executed_lines.py). It makes Python
code two or three times as slow, foreign code too. So it pauses for tests that are not the only ones to run
such a line: those of FOLDERS, and others with the mark `unmeasured`. If one was, the proof would name the
line. The programs that such a test starts go without it as well.

What several tests share is made with coverage, whichever of them asks first: a test with a fixture of SHARED
is always measured.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from coverage import Coverage

FOLDERS = ("browser", "simulated_mps", "tools")  # of tests/
SHARED = {"default_training", "first_run", "tiny_runs", "undisturbed"}
FOR_PROGRAMS = "COVERAGE_PROCESS_CONFIG"  # in it, coverage tells the programs that tests start what to do


def unmeasured(item: pytest.Item) -> bool:
    """Return whether a test goes without coverage."""
    if SHARED.intersection(item.fixturenames):
        return False
    folder = item.path.relative_to(Path(__file__).parent).parts[0]
    return folder in FOLDERS or item.get_closest_marker("unmeasured") is not None


def start_again(coverage: Coverage) -> None:
    """Go on with coverage, without its patches: they are there, and each more would slow down every fork."""
    patches = coverage.get_option("run:patch")
    coverage.set_option("run:patch", [])
    coverage.start()
    coverage.set_option("run:patch", patches)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Let coverage pause during a test, with the fixtures that begin and end with it."""
    coverage = Coverage.current()
    if coverage is None or not unmeasured(item):
        return (yield)
    for_programs = os.environ.pop(FOR_PROGRAMS, None)
    coverage.stop()
    try:
        return (yield)
    finally:
        start_again(coverage)
        if for_programs is not None:
            os.environ[FOR_PROGRAMS] = for_programs
