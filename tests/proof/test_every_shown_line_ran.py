"""Runs last, in a process of its own: reads the coverage data that the finished tests left behind."""

from pathlib import Path

import pytest

from tools.checks import executed_record
from tools.checks.executed_lines import measure

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.proof


@pytest.fixture(scope="module")
def report():
    return measure(ROOT)


def test_every_shown_line_ran(report):
    print(f"\n{report.summary()}")
    if report.problems:
        pytest.fail("\n".join([f"{len(report.problems)} problems", *report.problems]), pytrace=False)


def test_the_record_of_executed_sections_is_current(report):
    if report.problems:
        pytest.fail("the proof failed, so there is nothing to record", pytrace=False)
    assert executed_record.check(ROOT, report) is None
