"""check_claims.py: each kind of check with a truth and its opposite, and what this machine cannot tell."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from examples import check_claims
from examples.check_claims import FAILS, HOLDS, MAC, NONE, check_command, check_test, main, outcome

ROOT = Path(__file__).resolve().parents[2]
CLAIMS = """\
- {id: one-is-one, check: {command: "python -c 'print(1)'", expect: "^1$"}}
- {id: no-way, check: {none: {en: it takes a day, zh: 要一天}}}
"""
WRONG = """\
- {id: one-is-two, check: {command: "python -c 'print(1)'", expect: "^2$"}}
"""


def command(text, expect, **more):
    """Return the outcome of a command."""
    return check_command({"command": text, "expect": expect, **more})


@pytest.fixture
def handbook(tmp_path):
    """Return a folder with claims on two topics."""
    folder = tmp_path / "docs" / "data" / "claims"
    folder.mkdir(parents=True)
    (folder / "device.yaml").write_text(CLAIMS, encoding="utf-8")
    (folder / "memory.yaml").write_text(WRONG, encoding="utf-8")
    return tmp_path


@pytest.mark.program
def test_a_command_and_its_opposite():
    assert command("A=1 python -c \"import os; print(os.environ['A'])\"", "^1$") == (HOLDS, "")
    word, reason = command("python -c 'print(1)'; echo end", "^2$")
    assert (word, reason) == (FAILS, "no '^2$' in what it printed: end")
    assert command("python -c 'print(1 / 0)'", "ZeroDivisionError").word == HOLDS  # errors may be expected


@pytest.mark.program
def test_python_is_that_of_the_program():
    assert command("python -c 'import sys; print(sys.prefix)'; ls", f"^{sys.prefix}$").word == HOLDS


@pytest.mark.program
def test_a_command_that_tells_nothing():
    found = command("python -c 'import no_such_package'", "^2$")
    assert found == (NONE, "no_such_package is not installed here")
    assert check_command({"command": "sleep 60 & sleep 60", "expect": "^2$"}, 0.3).word == NONE


@pytest.mark.program
@pytest.mark.parametrize(
    ("system", "answer", "word"), [("Linux", "", MAC), ("Darwin", "False", MAC), ("Darwin", "True", HOLDS)]
)
def test_what_only_a_mac_tells(monkeypatch, system, answer, word):
    run = check_claims.run_limited
    answers = lambda words, *rest: (0, answer) if "mps" in words[-1] else run(words, *rest)  # noqa: E731
    monkeypatch.setattr(check_claims, "run_limited", answers)
    monkeypatch.setattr(check_claims.platform, "system", lambda: system)
    monkeypatch.setattr(check_claims.platform, "machine", lambda: "arm64")
    check_claims.obstacle_on_mps.cache_clear()
    assert command("echo 1", "^1$", mac=True).word == word
    check_claims.obstacle_on_mps.cache_clear()


@pytest.mark.program
def test_a_test_its_opposite_and_one_left_out(tmp_path):
    path = tmp_path / "tests" / "test_a.py"
    path.parent.mkdir()
    path.write_text(
        "import pytest\n"
        "def test_true(): pass\n"
        "def test_false(): assert 1 == 2\n"
        "def test_skipped(): pytest.skip('only at night')\n"
    )
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    assert check_test("tests/test_a.py::test_true", tmp_path) == (HOLDS, "")
    word, reason = check_test("tests/test_a.py::test_false", tmp_path)
    assert word == FAILS and reason.startswith("FAILED tests/test_a.py::test_false - assert 1 == 2")
    assert check_test("tests/test_a.py::test_skipped", tmp_path).word == NONE
    assert check_test("tests/test_a.py::test_no_more", tmp_path).word == NONE


def test_without_tests_or_their_environment(tmp_path):
    assert "needs the whole handbook" in check_test("tests/test_a.py::test_a", tmp_path).reason
    simulated = tmp_path / "tests" / "on_simulated_mps" / "test_a.py"
    simulated.parent.mkdir(parents=True)
    simulated.touch()
    assert "simulated" in check_test("tests/on_simulated_mps/test_a.py::test_a", tmp_path).reason
    assert outcome({"check": {"none": {"en": "why", "zh": "原因"}}}, tmp_path) == (NONE, "why")


@pytest.mark.program
def test_lines_count_and_exit_code(handbook, capsys):
    assert main([], handbook) == 1
    assert capsys.readouterr().out.splitlines() == [
        "holds          one-is-one",
        "no check       no-way: it takes a day",
        "does not hold  one-is-two: no '^2$' in what it printed: 1",
        "1 holds, 1 does not hold, 0 needs a Mac, 1 no check",
    ]
    assert main(["--topic", "device"], handbook) == 0
    assert main(["no-way"], handbook) == 0
    assert capsys.readouterr().out.endswith("0 holds, 0 does not hold, 0 needs a Mac, 1 no check\n")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["one"], "no claim one; the page lists them"),
        (["--topic", "speed"], "no topic speed; there are device, memory"),
    ],
)
def test_wrong_usage(handbook, capsys, words, message):
    with pytest.raises(SystemExit, match="2"):
        main(words, handbook)
    assert message in capsys.readouterr().err


@pytest.mark.program
def test_a_copied_file_says_what_it_needs(tmp_path):
    script = shutil.copy(ROOT / "examples" / "check_claims.py", tmp_path)
    done = subprocess.run([sys.executable, script], capture_output=True, text=True)
    assert done.returncode == 2
    assert "no docs/data/claims here: this program needs the whole handbook" in done.stderr


@pytest.mark.long
@pytest.mark.program
@pytest.mark.timeout(1200)
def test_every_command_of_the_handbook(capsys):
    """Tests that are checks run anyway."""
    found = {
        claim["id"]: outcome(claim, ROOT)
        for _, claim in check_claims.read_claims(ROOT)
        if "command" in claim["check"]
    }
    assert {name: each for name, each in found.items() if each.word not in (HOLDS, MAC)} == {}
