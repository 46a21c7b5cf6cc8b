"""Run every check and test, and say at the end what ran and what was skipped, and why.

    python -m tools.run_tests [--long]
    python -m tools.run_tests --check
    python -m tools.run_tests tests/snippets/test_device.py [...]

Four stages, each in processes of its own: the linters (tools.checks.lint); all tests under coverage, --long
also the slow ones; those on the simulated MPS device, in .venv-sim; and last the proof that every Python line
on a page ran, which reads the finished coverage data (tools/checks/executed_lines.py).

With --check, the quick ones alone: the linters, and the tests that start no program and no browser. With
names of tests, these alone; what they ran is noted in docs/data/executed.txt (tools.checks.executed_record).

The last line is `N passed, N failed, N skipped`; the exit code is 0 only when nothing failed and every stage
ran at least one test.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import platform
import resource
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

from tools.checks import executed_record, lint
from tools.checks.coverage_data import (
    COVERAGE_FILE,
    RUN_FOLDER,
    SIMULATED_MPS,
    SIMULATED_PYTHON,
    begin,
    this_machine,
)
from tools.checks.executed_lines import measure

ROOT = Path(__file__).resolve().parents[1]
LOCK = ".cache/test-run.lock"
ON_SIMULATED_MPS = ("tests/simulated_mps", "tests/on_simulated_mps")
# Two processes, each with half of the files; who is done early takes tests from the other.
IN_PARALLEL = ("-n", "2", "--dist", "worksteal")
# In whole runs, coverage pauses for tests that the proof does not need.
PAUSES = ("-p", "tests.unmeasured")


@dataclass
class Stage:
    """What a stage did; `skipped` holds the reason of each skipped test, `failed` the name of each failed."""

    name: str
    passed: int = 0
    failed: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    seconds: float = 0.0
    cpu_seconds: float = 0.0  # of all its processes; unlike the clock, the same on a busy machine


def cpu_seconds() -> float:
    """Return the CPU time that ended child processes have taken, theirs included."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def read_junit(name: str, path: Path, exit_code: int) -> Stage:
    """Read what pytest wrote. A stage that crashed or ran no test has failed, whatever the file says."""
    stage = Stage(name)
    outcomes: dict[str, str] = {}
    if path.is_file():
        for case in ElementTree.parse(path).getroot().iter("testcase"):
            test = "::".join(filter(None, (case.get("classname"), case.get("name"))))
            skipped = case.find("skipped")
            if case.find("failure") is not None or case.find("error") is not None:
                outcomes[test] = "failed"  # a test can be listed twice: passed, then failed to clean up
            elif skipped is not None:
                outcomes.setdefault(test, f"skipped {skipped.get('message')}")
            else:
                outcomes.setdefault(test, "passed")
    for test, outcome in outcomes.items():
        if outcome == "passed":
            stage.passed += 1
        elif outcome == "failed":
            stage.failed.append(test)
        else:
            stage.skipped.append(outcome.removeprefix("skipped "))
    if not outcomes:
        stage.failed.append(f"{name}: no test ran (pytest's exit code: {exit_code})")
    elif exit_code and not stage.failed:
        stage.failed.append(f"{name}: pytest ended with exit code {exit_code}")
    return stage


def run_pytest(name: str, command: list[str], root: Path, environment: dict[str, str]) -> Stage:
    """Run pytest with `command` in front of its report option, let it print, and return what it reported."""
    print(f"\n--- {name} ---", flush=True)
    report = root / RUN_FOLDER / f"{name}.xml"
    report.unlink(missing_ok=True)
    started, used = time.perf_counter(), cpu_seconds()
    done = subprocess.run([*command, f"--junit-xml={report}"], cwd=root, env=environment, check=False)
    stage = read_junit(name, report, done.returncode)
    stage.seconds, stage.cpu_seconds = time.perf_counter() - started, cpu_seconds() - used
    return stage


def run_lint() -> Stage:
    """Run the linters as a stage."""
    print("--- lint ---", flush=True)
    used = cpu_seconds()
    results = [lint.run(check) for check in lint.CHECKS]
    failed = [f"lint: {result.name}" for result in results if not result.passed]
    seconds = sum(result.seconds for result in results)
    used = cpu_seconds() - used
    return Stage("lint", len(results) - len(failed), failed, seconds=seconds, cpu_seconds=used)


def summary(stages: list[Stage]) -> str:
    """Return the table of stages, what failed, what was skipped and why, and the counts as the last line."""
    lines = [f"{'stage':<10}{'passed':>8}{'failed':>8}{'skipped':>9}{'seconds':>9}{'CPU s':>9}"]
    for stage in stages:
        counts = f"{stage.passed:>8}{len(stage.failed):>8}{len(stage.skipped):>9}"
        lines.append(f"{stage.name:<10}{counts}{stage.seconds:>9.1f}{stage.cpu_seconds:>9.1f}")
    failed = [test for stage in stages for test in stage.failed]
    if failed:
        lines += ["", "failed", *(f"  {test}" for test in failed)]
    skipped = Counter(reason for stage in stages for reason in stage.skipped)
    if skipped:
        lines += ["", "skipped, and why", *(f"  {number:>3}  {reason}" for reason, number in skipped.items())]
    passed = sum(stage.passed for stage in stages)
    return "\n".join([*lines, "", f"{passed} passed, {len(failed)} failed, {skipped.total()} skipped"])


def run_main(tests: Sequence[str], which: str, context: str) -> Stage:
    """Run tests (none: all) that match the marks `which` under coverage as a stage."""
    coverage = [sys.executable, "-m", "coverage", "run", f"--context={context}"]
    which_tests = tests or (*PAUSES, *(f"--ignore={folder}" for folder in ON_SIMULATED_MPS))
    command = [*coverage, "-m", "pytest", "-m", which, *IN_PARALLEL, *which_tests]
    return run_pytest("tests", command, ROOT, environment())


def run_simulated(tests: Sequence[str], which: str) -> Stage:
    """Run tests on the simulated MPS device as a stage. A Mac has the real one instead."""
    if platform.system() == "Darwin":
        return Stage("simulated", skipped=["the simulated MPS device is for machines without the real one"])
    coverage = [str(SIMULATED_PYTHON), "-m", "coverage", "run", f"--context={SIMULATED_MPS}"]
    pytest = ["-m", "pytest", "-p", "simulated_mps.pytest_plugin", "--simulated-mps", "-m", which]
    if tests == ON_SIMULATED_MPS:
        pytest += PAUSES
    else:  # some tests of the device start programs only
        pytest.append("--allow-no-operators")
    return run_pytest("simulated", [*coverage, *pytest, *IN_PARALLEL, *tests], ROOT, environment())


def environment() -> dict[str, str]:
    """Return the environment in which coverage writes where the proof looks.

    Python keeps what it compiles, whatever the machine's settings say: hundreds of processes load it.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}
    return kept | {"COVERAGE_FILE": str(ROOT / COVERAGE_FILE), "PYTHONDONTWRITEBYTECODE": ""}


def begin_here() -> str:
    """Start a test run on this machine; return its device."""
    context, versions = this_machine()
    begin(ROOT, [context] if platform.system() == "Darwin" else [context, SIMULATED_MPS], versions)
    return context


def finish(stages: list[Stage]) -> int:
    """Print the summary; return the exit code."""
    print(f"\n{summary(stages)}")
    return 1 if any(stage.failed for stage in stages) else 0


def run_all(long: bool) -> int:
    """Run all stages; return the exit code."""
    context = begin_here()
    which = "not proof" if long else "not proof and not long"
    proof = [sys.executable, "-m", "pytest", "-m", "proof", "--capture=no", "tests/proof"]
    stages = [
        run_lint(),
        run_main([], which, context),
        run_simulated(ON_SIMULATED_MPS, which),
        run_pytest("proof", proof, ROOT, environment()),
    ]
    return finish(stages)


def run_check() -> int:
    """Run what takes no program and no browser; return the exit code."""
    which = "not program and not slow and not browser and not long and not proof"
    command = [sys.executable, "-m", "pytest", "-q", "-m", which, *IN_PARALLEL]
    command += [f"--ignore={folder}" for folder in ON_SIMULATED_MPS]
    (ROOT / RUN_FOLDER).mkdir(parents=True, exist_ok=True)
    return finish([run_lint(), run_pytest("tests", command, ROOT, environment())])


def run_some(tests: list[str]) -> int:
    """Run the named tests and note which shown code they ran; return the exit code."""
    context = begin_here()
    on_device = [test for test in tests if test.startswith(ON_SIMULATED_MPS)]
    others = [test for test in tests if test not in on_device]
    stages = [run_main(others, "not proof", context)] if others else []
    stages += [run_simulated(on_device, "not proof")] if on_device else []
    if not any(stage.failed for stage in stages):
        report = measure(ROOT)
        for line in executed_record.update(ROOT, report, complete=False):
            print(f"{executed_record.RECORD}: brought up to date for {line}; commit both together")
        for key in executed_record.out_of_date(ROOT):
            lines = ", ".join(map(str, report.never_ran.get(key, [])))
            print(f"{executed_record.RECORD}: nothing noted of {key}: these tests did not run line {lines}")
    return finish(stages)


def main() -> int:
    """Run from the command line; return the exit code."""
    parser = argparse.ArgumentParser(description="Run every check and test.", allow_abbrev=False)
    parser.add_argument("--long", action="store_true", help="also run the slow tests")
    parser.add_argument("--check", action="store_true", help="only what starts no program and no browser")
    parser.add_argument(
        "tests", nargs="*", metavar="TEST", help="run these alone, e.g. tests/snippets/test_a.py"
    )
    arguments = parser.parse_args()
    if arguments.check + arguments.long + bool(arguments.tests) > 1:
        parser.error("--long, --check and names of tests exclude each other")
    lock = ROOT / LOCK
    lock.parent.mkdir(exist_ok=True)
    with lock.open("w", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("error: another test run is busy in this folder; wait for its end", file=sys.stderr)
            return 1
        if arguments.check:
            return run_check()
        return run_some(arguments.tests) if arguments.tests else run_all(arguments.long)


if __name__ == "__main__":
    sys.exit(main())
