"""Indicators are timed in turns, and the result says how the time grows and where it comes from."""

import os
import platform
from datetime import date

import numpy
import pytest
import yaml

from tools.measuring import indicator_features as tool


@pytest.fixture
def stored(tmp_path, monkeypatch):
    """Return the file that the tool writes, in a temporary folder; it is not there yet."""
    path = tmp_path / "indicator_features.yaml"
    monkeypatch.setattr(tool, "DATA", path)
    return path


def test_a_small_measurement_from_end_to_end(stored, capsys):
    assert tool.main(["--bars", "800", "--rounds", "2"]) == 0
    entry = yaml.safe_load(stored.read_text(encoding="utf-8"))
    assert yaml.safe_load(capsys.readouterr().out) == entry
    assert [row["bars"] for row in entry["rows"]] == [100, 200, 400, 800]
    for row in entry["rows"]:
        for seconds in (row["clock"], row["cpu"]):
            assert 0 < seconds["low"] <= seconds["median"] <= seconds["high"]
    assert entry["command"] == "python -m tools.measuring.indicator_features --bars 800 --rounds 2"
    assert (entry["indicators"], entry["rounds"], entry["date"]) == (111, 2, date.today())
    assert entry["versions"]["python"] == platform.python_version()
    assert set(entry["versions"]) == {"python", "numpy", "pandas", "ta-lib"}
    assert entry["machine"]["cpu_cores"] == os.cpu_count() and "shared" not in entry["machine"]


def test_the_first_round_does_not_count_and_rounds_take_turns(stored, monkeypatch):
    order = []

    def seconds_for(table):
        order.append(len(table))
        return 2.0 * len(table) ** 1.5, float(len(table)) ** 1.5 if len(order) > 4 else 1e9

    monkeypatch.setattr(tool, "seconds_for", seconds_for)
    assert tool.main(["--bars", "80", "--rounds", "3"]) == 0
    assert order == [10, 20, 40, 80] * 4
    entry = yaml.safe_load(stored.read_text(encoding="utf-8"))
    assert entry["rows"][3]["cpu"] == dict.fromkeys(("median", "low", "high"), 715.5)
    assert entry["rows"][3]["clock"]["median"] == 1431
    assert entry["exponent"] == 1.5


def test_what_was_noted_about_the_machine_stays(stored):
    stored.write_text("machine: {shared: true, busy: true, chip: another}\nrows: []\n", encoding="utf-8")
    assert tool.main(["--bars", "80", "--rounds", "1"]) == 0
    machine = yaml.safe_load(stored.read_text(encoding="utf-8"))["machine"]
    assert machine["shared"] and machine["busy"] and machine["chip"] != "another"


def test_the_exponent_of_a_power_law():
    bars = [1000, 2000, 4000, 8000]
    assert tool.fitted_exponent(bars, [3e-6 * count for count in bars]) == pytest.approx(1)
    assert tool.fitted_exponent(bars, [3e-9 * count**2 for count in bars]) == pytest.approx(2)


def test_the_bars_are_a_random_walk():
    table = tool.random_walk(5000)
    assert (table["low"] <= table[["open", "close"]].min(axis=1)).all()
    assert (table["high"] >= table[["open", "close"]].max(axis=1)).all()
    returns = numpy.diff(numpy.log(table["close"]))
    assert returns.std() == pytest.approx(5e-4, rel=0.05)
    assert abs(numpy.corrcoef(returns[1:], returns[:-1])[0, 1]) < 0.06
    assert table.equals(tool.random_walk(5000))
