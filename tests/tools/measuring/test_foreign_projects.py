"""What is stored of a program with somebody's project, and that programs and table name the same."""

import subprocess
from pathlib import Path

import pytest

from snippets.errors import UsageError
from tools.measuring import foreign_programs, foreign_projects
from tools.read_yaml import read_yaml

ROOT = Path(__file__).parents[3]
REPORT = {
    "operators": {"aten::add.Tensor": 3, "aten::mul.Tensor": 4},
    "findings": [
        {"kind": "missing", "event": "MISSING", "operator": "aten::x", "count": 2},
        {"kind": "float64", "event": "refused Double", "operator": "", "count": 1},
        {"kind": "gradient", "event": "no gradient", "operator": "aten::linear", "count": 1},
        {"kind": "waits", "event": "item", "operator": "", "count": 5},
        {"kind": "", "event": "cpu to mps", "operator": "", "count": 9},
    ],
}


@pytest.mark.parametrize("code", [0, 1])
def test_report_becomes_counts_and_errors(code):
    entry = foreign_projects.outcome(REPORT, subprocess.CompletedProcess([], code))
    assert (entry["operators"], entry["calls"]) == (2, 7)
    assert (entry["missing"], entry["float64"], entry["waits"], entry["refused"]) == (2, 1, 5, 0)
    assert entry["gradient"] == 1
    assert entry["errors"] == ["aten::linear", "aten::x", "refused Double"]
    assert entry["ended_well"] == (code == 0)


def test_missing_project_is_named(monkeypatch):
    monkeypatch.setitem(foreign_projects.DISTRIBUTIONS, "none", "no-such-project")
    with pytest.raises(UsageError, match="no-such-project is not installed: pip install no-such-project"):
        foreign_projects.run("none")


def test_unknown_program_is_named():
    with pytest.raises(UsageError, match="there is no program nope; there are accelerate, "):
        foreign_projects.main(["nope"])


def test_programs_results_and_words_name_the_same():
    programs = {
        name
        for name, value in vars(foreign_programs).items()
        if getattr(value, "__module__", "") == foreign_programs.__name__ and name != "step"
    }
    assert programs == set(foreign_projects.DISTRIBUTIONS)
    stored = read_yaml(ROOT / "docs/data/results/simulated_mps_projects.yaml")["projects"]
    words = read_yaml(ROOT / "docs/data/tables/simulated_mps.yaml")["words"]["programs"]
    assert {entry["program"] for entry in stored} == set(words) == programs
