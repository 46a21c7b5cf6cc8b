"""The table of PyTorch's tests on the simulated device says what was counted, and the goal is met."""

from collections import Counter
from pathlib import Path

import pytest
import simulated_mps_tests as hook
import yaml

ROOT = Path(__file__).resolve().parents[2]
DATA = yaml.safe_load((ROOT / "docs" / "data" / "results" / "simulated_mps.yaml").read_text(encoding="utf-8"))


def test_the_two_shares_follow_from_the_counts():
    counts = sum(map(Counter, DATA["tests"]["counts"].values()), Counter())
    should_pass = counts["passed"] + counts["failed"] + counts["crashed"]
    should_fail = counts["fails_on_both"] + counts["fails_on_mps_only"]
    assert should_pass > 4000 and should_fail > 400
    accepts = DATA["tests"]["accepts_what_a_mac_accepts"]
    refuses = DATA["tests"]["refuses_what_a_mac_refuses"]
    assert accepts == pytest.approx(counts["passed"] / should_pass, abs=1e-4)
    assert refuses == pytest.approx(counts["fails_on_both"] / should_fail, abs=1e-4)
    assert accepts >= 0.8


def test_a_step_costs_at_most_three_times_that_of_the_cpu():
    assert all(step["ratio"]["median"] <= 3 for step in DATA["speed"]["steps"])


@pytest.mark.parametrize(
    "counts", [{"numpy": {"passed": 1, "surprised": 1}}, {"numpy": {"passed": 1}, "surprised": {"passed": 1}}]
)
def test_an_unknown_outcome_or_group_is_an_error(monkeypatch, counts):
    monkeypatch.setattr(hook, "load", lambda name: {"tests": {"counts": counts}})
    with pytest.raises(ValueError, match="surprised"):
        hook.render("en")
