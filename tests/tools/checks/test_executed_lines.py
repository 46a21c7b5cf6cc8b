"""The proof of execution: each planted defect, in a small repository with real coverage runs."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tools.checks.coverage_data import COVERAGE_FILE, RUN_FOLDER, begin
from tools.checks.executed_lines import measure

pytestmark = pytest.mark.program

ROOT = Path(__file__).resolve().parents[3]
VERSIONS = {"python": "3.11", "torch": "2.15.0", "torchvision": "0.29.2"}

SOURCE = """
import sys


# --8<-- [start:choose]
def choose(name):
    if name == "mps":
        return (
            "metal"
        )
    return "other"
# --8<-- [end:choose]


# --8<-- [start:table]
TABLE = {
    # --8<-- [start:rows]
    "a": 1,
    # --8<-- [end:rows]
}
# --8<-- [end:table]
"""

PAGE = """
```python
--8<-- "snippets/a.py:choose"
```

```python
--8<-- "snippets/a.py:table"
```

```python
--8<-- "snippets/a.py:rows"
```
"""

TESTS = """
import sys
sys.path.insert(0, ".")
from snippets.a import choose
assert choose("cpu") == "other"
"""

METAL = """
- file: snippets/a.py
  section: choose
  code: |
    return (
        "metal"
    )
  kind: {kind}
  reason: {reason}
"""


@pytest.fixture
def repository(plant, tmp_path):
    """Return a small repository with one source, one page that shows all of it, and its test."""
    shutil.copy(ROOT / "pyproject.toml", tmp_path)  # the real settings of coverage
    plant("snippets/__init__.py", "")
    plant("snippets/a.py", SOURCE)
    plant("docs/en/p.md", PAGE)
    plant("tests.py", TESTS)
    plant("requirements/examples.txt", "torch==2.15.0\ntorchvision==0.29.2\n")
    return tmp_path


def run_tests(root, context="cpu"):
    """Run the small repository's tests as tools/run_tests.py runs ours."""
    begin(root, [context], VERSIONS)
    cover(root, context)


def cover(root, context, script="tests.py"):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}
    environment["COVERAGE_FILE"] = str(root / COVERAGE_FILE)
    command = [sys.executable, "-m", "coverage", "run", f"--context={context}", script]
    subprocess.run(command, cwd=root, env=environment, check=True, timeout=60)


def by_name(report):
    return {identity.split()[0]: known for identity, known in report.records.items()}


def run_everything(root, plant, context="cpu"):
    plant("tests.py", TESTS + 'assert choose("mps") == "metal"\n')
    run_tests(root, context)


def test_a_complete_run_passes_and_is_counted(repository, plant):
    run_everything(repository, plant)
    report = measure(repository)
    assert report.problems == []
    assert "compared 3 sections with 5 executable lines; 0 lines are excepted" in report.summary()
    assert "cpu: 5 lines ran, 3 sections as a whole" in report.summary()
    assert {key: known["contexts"] for key, known in by_name(report).items()} == {
        "snippets/a.py:choose": ["cpu"],
        "snippets/a.py:table": ["cpu"],
        "snippets/a.py:rows": ["cpu"],  # a part of a statement counts as the statement
    }


def test_a_shown_line_that_never_ran(repository):
    run_tests(repository)
    report = measure(repository)
    assert report.problems == ["snippets/a.py:7 is shown on a page but never ran: return ("]
    assert report.never_ran == {"snippets/a.py:choose": [7]}


def test_no_pragma_excuses_a_line(repository, plant):
    plant("snippets/a.py", SOURCE.replace('"mps":', '"mps":  # pragma: no cover'))
    run_tests(repository)
    assert len(measure(repository).problems) == 1


@pytest.mark.parametrize(
    ("folder", "command"),
    [(".", ["-m", "snippets.a"]), ("elsewhere", ["../snippets/a.py"]), ("elsewhere", ["linked/a.py"])],
)
def test_processes_that_tests_start_count(repository, plant, folder, command):
    plant("snippets/a.py", SOURCE + '\nif __name__ == "__main__":\n    choose("mps")\n    choose("cpu")\n')
    (repository / "elsewhere").mkdir()
    (repository / "elsewhere/linked").symlink_to(repository / "snippets")
    start = f"subprocess.run([sys.executable, *{command!r}], cwd={folder!r}, check=True)"
    plant("tests.py", f"import subprocess, sys\n{start}\n")
    run_tests(repository, "mps")
    report = measure(repository)
    assert report.problems == []
    assert by_name(report)["snippets/a.py:choose"]["contexts"] == ["mps"]


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_worker_processes_count(repository, plant, method):
    plant(
        "tests.py",
        f"""
        import multiprocessing
        import sys
        sys.path.insert(0, ".")
        from snippets.a import choose
        if __name__ == "__main__":
            with multiprocessing.get_context("{method}").Pool(1) as pool:
                pool.map(choose, ["mps", "cpu"])
                pool.close()
                pool.join()
        """,
    )
    run_tests(repository)
    assert measure(repository).problems == []


def test_two_contexts_together(repository, plant):
    begin(repository, ["cpu"], VERSIONS)
    run = json.loads((repository / RUN_FOLDER / "run.json").read_text())
    run["contexts"].append("simulated-mps")
    (repository / RUN_FOLDER / "run.json").write_text(json.dumps(run))
    plant("mps_tests.py", TESTS.replace('"cpu") == "other"', '"mps") == "metal"'))
    cover(repository, "cpu")
    cover(repository, "simulated-mps", "mps_tests.py")
    report = measure(repository)
    assert report.problems == []
    assert by_name(report)["snippets/a.py:choose"]["contexts"] == []
    assert by_name(report)["snippets/a.py:choose"]["parts"] == ["cpu", "simulated-mps"]
    assert by_name(report)["snippets/a.py:table"]["contexts"] == ["cpu", "simulated-mps"]


def test_an_unused_section(repository, plant):
    plant("docs/en/p.md", PAGE.replace("snippets/a.py:choose", "snippets/a.py:rows"))
    run_everything(repository, plant)
    assert measure(repository).problems == ["snippets/a.py:4: section 'choose' is shown on no page"]


@pytest.mark.parametrize(
    ("extra", "expected"),
    [
        ("# --8<-- [start:open]\nx = 1\n", "section 'open' is never closed"),
        ("# --8<-- [start:void]\n# --8<-- [end:void]\n", "section 'void' is empty"),
        ("# --8<-- [start:table]\nx = 1\n# --8<-- [end:table]\n", "section 'table' starts a second time"),
    ],
)
def test_broken_sections(repository, plant, extra, expected):
    plant("snippets/a.py", SOURCE + extra)
    run_everything(repository, plant)
    assert any(expected in problem for problem in measure(repository).problems)


def test_a_section_of_comments_proves_nothing(repository, plant):
    plant("snippets/a.py", SOURCE + "# --8<-- [start:words]\n# only words\n# --8<-- [end:words]\n")
    plant("docs/en/q.md", '```python\n--8<-- "snippets/a.py:words"\n```\n')
    run_everything(repository, plant)
    assert measure(repository).problems == [
        "snippets/a.py:words has no executable line: there is nothing to prove"
    ]


def test_a_proof_that_compares_nothing(repository, plant):
    plant("snippets/a.py", "x = 1\n")
    plant("docs/en/p.md", "No code.\n")
    plant("tests.py", 'import sys\nsys.path.insert(0, ".")\nimport snippets.a\n')
    run_tests(repository)
    assert measure(repository).problems == ["no line was compared: no page shows a Python section"]


def test_without_a_test_run(repository):
    assert "run.json is missing" in measure(repository).problems[0]


def test_without_coverage_data(repository):
    begin(repository, ["cpu"], VERSIONS)
    assert f"the test run left no coverage data in {RUN_FOLDER}" in measure(repository).problems


def test_sources_edited_after_the_run(repository, plant):
    run_everything(repository, plant)
    plant("snippets/a.py", SOURCE + "\nx = 1\n")
    plant("snippets/new.py", "x = 1\n")
    assert measure(repository).problems == [
        "snippets/a.py changed after the tests began: run them again",
        "snippets/new.py changed after the tests began: run them again",
    ]


def test_an_old_run_is_forgotten(repository, plant):
    run_everything(repository, plant)
    begin(repository, ["cpu"], VERSIONS)
    assert len(measure(repository).problems) > 1


def test_data_of_a_killed_process_are_left_out(repository, plant, capsys):
    run_everything(repository, plant)
    (repository / RUN_FOLDER / "coverage.host.1.x").write_bytes(b"SQLite format 3\0 and then it was killed")
    assert measure(repository).problems == []
    assert "left out the coverage data of a killed process: coverage.host.1.x" in capsys.readouterr().out


def test_an_exception_excuses_its_lines(repository, plant):
    plant("docs/data/not_executed.yaml", METAL.format(kind="mps-only", reason="Needs a Mac."))
    run_tests(repository)
    report = measure(repository)
    assert report.problems == []
    assert "1 lines are excepted" in report.summary()
    assert by_name(report)["snippets/a.py:choose"] == {
        "contexts": ["cpu"],
        "exceptions": {"mps-only": 1},
    }


def test_a_section_of_nothing_but_exceptions_ran_nowhere(repository, plant):
    plant(
        "snippets/a.py",
        SOURCE.replace("        return (", "        # --8<-- [start:m]\n        return (").replace(
            "        )\n", "        )\n        # --8<-- [end:m]\n"
        ),
    )
    plant("docs/en/q.md", '```python\n--8<-- "snippets/a.py:m"\n```\n')
    plant("docs/data/not_executed.yaml", METAL.format(kind="cuda-only", reason="x"))
    run_tests(repository)
    report = measure(repository)
    assert report.problems == []  # the exception of the outer section holds for the inner one
    assert by_name(report)["snippets/a.py:m"] == {"contexts": [], "exceptions": {"cuda-only": 1}}


@pytest.mark.parametrize(
    ("kind", "context", "stale"),
    [
        ("mps-only", "mps", False),
        ("cuda-only", "cuda", False),
        ("mps-only", "cpu", True),
        ("mps-only", "simulated-mps", True),
        ("cuda-only", "mps", True),
        ("meant-to-fail", "mps", True),
    ],
)
def test_an_exception_that_did_run(repository, plant, kind, context, stale):
    plant("docs/data/not_executed.yaml", METAL.format(kind=kind, reason="x"))
    run_everything(repository, plant, context)
    problems = measure(repository).problems
    assert len(problems) == (1 if stale else 0)
    assert all("stale exception, this line ran: return (" in problem for problem in problems)


@pytest.mark.parametrize(("system", "stale"), [("Darwin", False), ("Linux", True)])
def test_macos_lines_may_run_on_a_mac(repository, plant, monkeypatch, system, stale):
    plant("docs/data/not_executed.yaml", METAL.format(kind="macos-only", reason="x"))
    run_everything(repository, plant)
    monkeypatch.setattr("platform.system", lambda: system)
    assert len(measure(repository).problems) == stale


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (("return (", "return ["), "stale exception, the section does not contain"),
        (("section: choose", "section: gone"), "stale exception, no page shows such a section"),
        (("file: snippets/a.py", "file: snippets/b.py"), "stale exception, no page shows such a section"),
        (("kind: mps-only", "kind: slow"), "unknown kind 'slow'"),
        (("reason: Needs a Mac.", "reason:"), "give a reason"),
        (("  reason: Needs a Mac.", ""), "expected the keys"),
        (('    return (\n        "metal"\n    )', "    # a comment"), "contains '# a comment' 2 times"),
    ],
)
def test_wrong_exceptions(repository, plant, change, expected):
    source = SOURCE.replace('    return "other"', '    # a comment\n    # a comment\n    return "other"')
    plant("snippets/a.py", source)
    entry = METAL.format(kind="mps-only", reason="Needs a Mac.")
    assert change[0] in entry
    plant("docs/data/not_executed.yaml", entry.replace(*change))
    run_tests(repository)
    problems = measure(repository).problems
    assert len(problems) == 2  # the wrong entry, and the line that it does not excuse
    assert expected in problems[0]
    assert "never ran: return (" in problems[1]


def test_an_exception_without_executable_lines(repository, plant):
    plant("snippets/a.py", SOURCE.replace('    return "other"', '    # a comment\n    return "other"'))
    entry = METAL.format(kind="mps-only", reason="x").replace(
        'return (\n        "metal"\n    )', "# a comment"
    )
    plant("docs/data/not_executed.yaml", entry)
    run_everything(repository, plant)
    assert "the quoted code has no executable line" in measure(repository).problems[0]
