"""Coverage pauses for the tests that need none, and for the programs that they start, and for no other."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from coverage import CoverageData

ROOT = Path(__file__).resolve().parents[2]
SHOWN = "\n".join(f"def {name}():\n    return 1\n" for name in ("one", "two", "three", "four"))
TESTS = """
import os, subprocess, sys
import pytest, shown

registered, register = [], os.register_at_fork
os.register_at_fork = lambda **what: (registered.append(what), register(**what))

def run(name):
    subprocess.run([sys.executable, "-c", f"import shown; shown.{name}()"], check=True)

@pytest.mark.unmeasured
def test_one():
    shown.one()
    run("two")

def test_three():
    shown.three()
    run("four")

@pytest.fixture
def undisturbed():
    shown.one()

@pytest.mark.unmeasured
def test_what_is_shared_is_measured(undisturbed):
    pass

def test_no_fork_does_more_than_before():
    assert registered == []
"""
SETTINGS = """
[run]
parallel = true
patch = subprocess, fork
source = .
"""


@pytest.fixture
def executed(tmp_path):
    """Return a function that runs the tests above under coverage and says which functions it saw run."""
    (tmp_path / "tests").mkdir()
    shutil.copy(ROOT / "tests/unmeasured.py", tmp_path / "tests")
    (tmp_path / "shown.py").write_text(SHOWN, encoding="utf-8")
    (tmp_path / "tests/test_planted.py").write_text(TESTS, encoding="utf-8")
    (tmp_path / ".coveragerc").write_text(SETTINGS, encoding="utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\npythonpath = .\nmarkers = unmeasured\n", encoding="utf-8")

    def call(*words):
        command = [sys.executable, "-m", "coverage", "run", "-m", "pytest", "-q", "-p", "tests.unmeasured"]
        kept = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}
        done = subprocess.run([*command, *words], cwd=tmp_path, env=kept, capture_output=True, check=False)
        assert done.returncode == 0, done.stdout
        lines = set()
        for path in tmp_path.glob(".coverage.*"):
            data = CoverageData(basename=str(path))
            data.read()
            lines |= {line for file in data.measured_files() for line in data.lines(file) if "shown" in file}
        return [
            name
            for name, line in zip(("one", "two", "three", "four"), (2, 5, 8, 11), strict=True)
            if line in lines
        ]

    return call


@pytest.mark.program
@pytest.mark.parametrize("words", [[], ["-n", "2"]], ids=["one process", "two processes"])
def test_coverage_pauses_and_goes_on(executed, words):
    assert executed("-k", "test_one or test_three", *words) == ["three", "four"]


@pytest.mark.program
def test_forks_become_no_slower(executed):
    executed("-k", "test_one or test_no_fork")


@pytest.mark.program
def test_what_several_tests_share_is_measured(executed):
    assert executed("-k", "shared") == ["one"]
