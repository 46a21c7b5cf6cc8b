"""The two shares of PyTorch's tests on the simulated device follow from the counts, and the goals are met."""

from collections import Counter
from pathlib import Path

import pytest

from tools.read_yaml import read_yaml

ROOT = Path(__file__).resolve().parents[2]
DATA = read_yaml(ROOT / "docs" / "data" / "results" / "simulated_mps.yaml")


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


def test_step_costs_at_most_three_times_the_cpu():
    assert all(step["ratio"]["median"] <= 3 for step in DATA["speed"]["steps"])
