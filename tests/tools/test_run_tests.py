"""The test command itself: no failure, crash or empty stage may end in a green summary."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tools import run_tests
from tools.checks import executed_record, lint
from tools.checks.executed_lines import Report
from tools.checks.lint import Check
from tools.run_tests import Stage, read_junit, run_pytest, summary

ROOT = Path(__file__).resolve().parents[2]
NAMES = ("lint", "tests", "simulated", "proof")

TESTS = {
    "passes": "def test_a(): pass\n",
    "fails": "def test_a(): pass\ndef test_b(): assert 0\n",
    "broken": "import nothing_of_this_name\n",
    "empty": "x = 1\n",
    "skips": "import pytest\n@pytest.mark.skip(reason='no Mac')\ndef test_a(): pass\ndef test_b(): pass\n",
    "cleanup": "import pytest\n@pytest.fixture\ndef f():\n    yield\n    assert 0\ndef test_a(f): pass\n",
    "killed": "import os\ndef test_a(): pass\ndef test_b(): os._exit(0)\n",
    "quits": "import pytest\ndef test_a(): pass\ndef test_b(): pytest.exit('stop', 3)\n",
}


@pytest.mark.program
@pytest.mark.parametrize(
    ("kind", "passed", "failed", "skipped"),
    [
        ("passes", 1, 0, 0),
        ("fails", 1, 1, 0),
        ("broken", 0, 1, 0),
        ("empty", 0, 1, 0),
        ("skips", 1, 0, 1),
        ("cleanup", 0, 1, 0),
        ("killed", 0, 1, 0),
        ("quits", 2, 1, 0),
    ],
)
def test_a_stage_counts_what_pytest_did(tmp_path, kind, passed, failed, skipped):
    (tmp_path / "test_planted.py").write_text(TESTS[kind], encoding="utf-8")
    (tmp_path / run_tests.RUN_FOLDER).mkdir(parents=True)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_planted.py"]
    stage = run_pytest("tests", command, tmp_path, dict(os.environ))
    assert (stage.passed, len(stage.failed), len(stage.skipped)) == (passed, failed, skipped)


@pytest.mark.program
def test_an_old_report_is_not_read_again(tmp_path):
    report = tmp_path / run_tests.RUN_FOLDER / "tests.xml"
    report.parent.mkdir(parents=True)
    report.write_text('<testsuites><testcase classname="a" name="b"/></testsuites>', encoding="utf-8")
    assert read_junit("tests", report, 0).passed == 1
    assert run_pytest("tests", [sys.executable, "-c", ""], tmp_path, dict(os.environ)).failed


def test_summary_names_failures_and_reasons():
    stages = [
        Stage("lint", passed=3),
        Stage("tests", passed=10, failed=["tests.a::test_b"], skipped=["no Mac", "no Mac", "no Chromium"]),
    ]
    lines = summary(stages).splitlines()
    assert lines[-1] == "13 passed, 1 failed, 3 skipped"
    assert lines[2].split() == ["tests", "10", "1", "3", "0.0", "0.0"]
    assert "  tests.a::test_b" in lines
    assert "    2  no Mac" in lines


@pytest.mark.parametrize(
    ("failed", "exit_code"),
    [([[], [], [], []], 0), *(([["x"] * (i == bad) for i in range(4)], 1) for bad in range(4))],
)
def test_exit_code_is_zero_only_without_failed_stages(monkeypatch, capsys, failed, exit_code):
    stages = iter([Stage(name, 1, wrong) for name, wrong in zip(NAMES, failed, strict=True)])
    monkeypatch.setattr(run_tests, "begin", lambda *_: None)
    monkeypatch.setattr(run_tests, "this_machine", lambda: ("cpu", {}))
    monkeypatch.setattr(run_tests, "run_lint", lambda: next(stages))
    monkeypatch.setattr(run_tests, "run_pytest", lambda *_: next(stages))
    assert run_tests.run_all(long=False) == exit_code
    assert capsys.readouterr().out.splitlines()[-1] == f"4 passed, {exit_code} failed, 0 skipped"


@pytest.fixture
def commands(monkeypatch):
    """Return the commands that stages would run; each passes a test."""
    called = []

    def note(name, command, *_):
        called.append(command)
        return Stage(name, 1)

    monkeypatch.setattr(run_tests, "run_pytest", note)
    monkeypatch.setattr(run_tests, "begin", lambda *_: None)
    monkeypatch.setattr(run_tests, "this_machine", lambda: ("cpu", {}))
    monkeypatch.setattr(run_tests.platform, "system", lambda: "Linux")
    return called


@pytest.mark.parametrize("failed", [[], ["x"]])
def test_named_tests_run_where_they_belong(monkeypatch, capsys, commands, failed):
    report, noted = Report(never_ran={"b.py:two": [7, 8]}), []
    monkeypatch.setattr(run_tests, "measure", lambda root: report)
    monkeypatch.setattr(
        executed_record, "update", lambda *given, complete: noted.append(complete) or ["a.py:one"]
    )
    monkeypatch.setattr(executed_record, "out_of_date", lambda root: ["b.py:two"])
    if failed:
        monkeypatch.setattr(run_tests, "run_main", lambda *_: Stage("tests", 1, failed))
    assert run_tests.run_some(["tests/snippets/test_a.py", "tests/on_simulated_mps/test_b.py"]) == len(failed)
    assert commands[-1][0] == str(run_tests.SIMULATED_PYTHON)
    assert commands[-1][-1] == "tests/on_simulated_mps/test_b.py"
    assert "--allow-no-operators" in commands[-1]
    assert noted == ([] if failed else [False])
    if not failed:
        assert commands[0][-1] == "tests/snippets/test_a.py"
        out = capsys.readouterr().out
        assert "brought up to date for a.py:one; commit both together" in out
        assert "nothing noted of b.py:two: these tests did not run line 7, 8" in out


def test_device_tests_together_have_to_use_it(commands):
    run_tests.run_simulated(run_tests.ON_SIMULATED_MPS, "not proof")
    assert "--simulated-mps" in commands[0]
    assert "--allow-no-operators" not in commands[0]


def test_coverage_pauses_in_whole_runs_alone(commands):
    run_tests.run_main([], "not proof", "cpu")
    run_tests.run_simulated(run_tests.ON_SIMULATED_MPS, "not proof")
    run_tests.run_main(["tests/tools/test_a.py"], "not proof", "cpu")
    run_tests.run_simulated(["tests/simulated_mps/tests/test_b.py"], "not proof")
    assert ["tests.unmeasured" in command for command in commands] == [True, True, False, False]


def test_quick_check_is_linters_and_program_free_tests(monkeypatch, commands):
    monkeypatch.setattr(run_tests, "run_lint", lambda: Stage("lint", 1))
    assert run_tests.run_check() == 0
    (command,) = commands
    assert (
        command[command.index("-m", 2) + 1 :][0]
        == "not program and not slow and not browser and not long and not proof"
    )
    monkeypatch.setattr(run_tests, "run_lint", lambda: Stage("lint", 0, ["ruff"]))
    assert run_tests.run_check() == 1


MARKED = (
    "import subprocess, sys\nimport pytest\n{0}def test_a(): subprocess.run([sys.executable, '-c', ''])\n"
)


@pytest.mark.program
@pytest.mark.parametrize(
    ("mark", "outcome"), [("", "1 passed, 1 error"), ("@pytest.mark.program\n", "1 passed")]
)
def test_test_that_starts_a_program_must_say_so(tmp_path, mark, outcome):
    """Otherwise it would slip into the quick check. The fixture is that of tests/conftest.py."""
    (tmp_path / "test_planted.py").write_text(MARKED.format(mark), encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "tests.conftest"]
    done = subprocess.run(
        [*command, "-W", "ignore", "test_planted.py"],
        cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert f"\n{outcome} in " in done.stdout, done.stdout
    assert ("mark this test with @pytest.mark.program" in done.stdout) == (mark == "")


def test_two_test_runs_do_not_share_a_folder(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(run_tests, "ROOT", tmp_path)
    monkeypatch.setattr(sys, "argv", ["run_tests.py"])
    monkeypatch.setattr(run_tests, "run_all", lambda long: run_tests.main())
    assert run_tests.main() == 1
    assert "another test run is busy" in capsys.readouterr().err


@pytest.mark.program
def test_unknown_flags_are_errors():
    done = subprocess.run([sys.executable, "-m", "tools.run_tests", "--lon"], cwd=ROOT, capture_output=True)
    assert done.returncode == 2


@pytest.mark.program
@pytest.mark.parametrize(
    ("check", "passed"),
    [
        (Check("good", (sys.executable, "-c", "pass")), True),
        (Check("bad", (sys.executable, "-c", "raise SystemExit(3)")), False),
        (Check("nothing to look at", (sys.executable, "-c", "pass"), ("*.gone",)), False),
        (Check("only excepted files", (sys.executable, "-c", "pass"), ("*.txt",), except_for="a.txt"), False),
        (Check("shell", ("shellcheck", "--shell=bash"), ("*.sh",)), False),
        (Check("workflow", lint.schema("github-workflows"), ("*.yml",)), False),
    ],
    ids=lambda value: value.name.replace(" ", "-") if isinstance(value, Check) else "",
)
def test_linters_fail_aloud(tmp_path, check, passed):
    (tmp_path / "a.txt").touch()
    (tmp_path / "a.sh").write_text("echo $1\n", encoding="utf-8")
    (tmp_path / "a.yml").write_text("jobs: 3\n", encoding="utf-8")
    assert lint.run(check, tmp_path).passed == passed
