"""The table of how long indicators take says what was measured, and that the work is linear."""

import pytest
import yaml

from examples.indicator_transformer.indicators import INDICATORS
from tools.measuring.indicator_features import DATA, fitted_exponent


@pytest.fixture
def tables(import_hook):
    return import_hook("data_tables")


@pytest.fixture
def stored():
    return yaml.safe_load(DATA.read_text(encoding="utf-8"))


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_table_shows_the_measurement(tables, stored, language):
    lines = tables.render("indicator-features", language).splitlines()
    shares = ["12.5%", "25.0%", "50.0%", "100.0%"]
    for line, row, share in zip(lines[2:6], stored["rows"], shares, strict=True):
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        assert cells[:2] == [f"{row['bars']:,}", share]
        for cell, clock in zip(cells[2:], ("clock", "cpu"), strict=True):
            for number in row[clock].values():
                assert f"{number:.3g}" in cell
    facts = [" x86-64 CPU ", stored["command"], str(stored["date"]), f"{stored['exponent']:.2f}"]
    for fact in (*facts, *stored["versions"].values()):
        assert fact in lines[-1]


def test_what_is_stored_was_measured_with_these_indicators_on_a_year(stored):
    assert stored["indicators"] == len(INDICATORS)
    assert [row["bars"] for row in stored["rows"]] == [65_700, 131_400, 262_800, 525_600]
    bars, seconds = zip(*((row["bars"], row["cpu"]["median"]) for row in stored["rows"]), strict=True)
    assert stored["exponent"] == pytest.approx(fitted_exponent(bars, seconds), abs=1e-3)
    assert 0.8 < stored["exponent"] < 1.2, "in proportion to the bars, or it was not a quiet machine"
