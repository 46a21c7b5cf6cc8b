"""Faults that were planted once, each again: the tests named beside it in mutants.yaml must notice it.

Most were drawn by a seeded script over losses, masks, samplers, schedules, metrics, columns and units; others
had survived a reading of the tests. Where the text of a line has changed, plant the fault in the new one.
"""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tools.read_yaml import read_yaml
from tools.working_copy import environment

ROOT = Path(__file__).resolve().parents[2]
NEEDED = ("docs", "examples", "snippets", "tests", "tools", "pyproject.toml", "mkdocs.yml")
MUTANTS = read_yaml(Path(__file__).with_name("mutants.yaml"))


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """Return a copy of the files that tests need."""
    copy, ignored = tmp_path_factory.mktemp("mutants"), shutil.ignore_patterns("__pycache__")
    for name in NEEDED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, copy / name, ignore=ignored)
        else:
            shutil.copy(ROOT / name, copy / name)
    return copy


def pytest_in(tree, *words):
    """Return the exit code and the output of pytest in a copy of the files."""
    command = [sys.executable, "-B", "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
    command += ["-m", "long or not long", *words]
    variables = environment() | {"OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, cwd=tree, env=variables, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def test_every_fault_can_be_planted():
    """In a line that is still there, once."""
    texts = {mutant["file"]: (ROOT / mutant["file"]).read_text(encoding="utf-8") for mutant in MUTANTS}
    assert [mutant for mutant in MUTANTS if texts[mutant["file"]].count(mutant["old"]) != 1] == []


@pytest.mark.long
def test_without_a_fault_all_of_these_tests_pass(tree):
    code, output = pytest_in(tree, *sorted({mutant["test"] for mutant in MUTANTS}))
    assert code == 0, output[-3000:]


@pytest.mark.long
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: f"{mutant['file']}: {mutant['new']}")
def test_a_planted_fault_is_noticed(tree, mutant):
    path = tree / mutant["file"]
    right = path.read_text(encoding="utf-8")
    path.write_text(right.replace(mutant["old"], mutant["new"]), encoding="utf-8")
    try:
        code, output = pytest_in(tree, mutant["test"])
    finally:
        path.write_text(right, encoding="utf-8")
    assert code in (1, 2), output[-3000:]  # 2: already where the tests are collected
