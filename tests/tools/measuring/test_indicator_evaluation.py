"""The stored evaluation is what the programs say today."""

import json

import pytest

from tools.drawing.evaluation import DATA
from tools.measuring.indicator_evaluation import ROOT, TRAIN, measure

pytestmark = pytest.mark.long  # every test starts two programs
STORED = json.loads(DATA.read_text(encoding="utf-8"))


def test_a_run_is_trained_and_evaluated_in_a_throw_away_folder():
    found = measure(ROOT, [*TRAIN, "--quick"])
    assert found.keys() == STORED.keys() - {"trained_by"}
    assert found["checkpoint"] == STORED["checkpoint"]
    assert not (ROOT / "runs/market").exists()


def test_the_stored_numbers_come_out_again():
    """Another processor may round in another way, and training makes much of that: a few thousandths."""
    found = measure(ROOT, TRAIN)
    for name in ("frequency", "blind", "best"):  # of the data alone
        assert found["losses"][name] == pytest.approx(STORED["losses"][name], rel=1e-4)
    assert found["losses"]["network"] == pytest.approx(STORED["losses"]["network"], abs=0.01)
    assert found["direction"]["right"] == pytest.approx(STORED["direction"]["right"], abs=0.02)
    assert found["regimes"] == STORED["regimes"]
    for now, then in zip(found["indicators"], STORED["indicators"], strict=True):
        assert now["selected"] == pytest.approx(then["selected"], abs=0.1), now["name"]
