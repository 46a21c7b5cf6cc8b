"""Every measured form of the floor-plan network has a row in the table of memory."""

import re

import floorplan_tables as tables
import pytest
import yaml
from origins import RESULTS

DATA = yaml.safe_load((RESULTS / "floorplan_memory.yaml").read_text(encoding="utf-8"))


def rows(table):
    """Return the cells of all rows of a text's tables, without headings."""
    lines = [line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("|")]
    heading = lines[0]
    return [line for line in lines if line != heading and set(line[0]) != {"-"}]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_measured_form_has_a_row(language):
    found = rows(tables.memory(language))
    measured = [row for entry in DATA for row in entry["forms"]]
    assert [row[0] for row in found] == [tables.FORMS[row["form"]][language] for row in measured]
    assert [row[1] for row in found] == [f"{row['tokens']:,}" for row in measured]
    for cells, row in zip(found, measured, strict=True):
        peak = f"{row['peak_bytes'] / 1e9:.3g} GB" if "peak_bytes" in row else "–"
        assert cells[2:4] == [f"{row['kept_bytes'] / 1e9:.3g} GB", peak]
        shown = [float(number.replace(",", "")) for number in re.findall(r"[\d.,]+", cells[4])]
        assert shown == pytest.approx(
            [1e3 * row["seconds"][name] for name in ("median", "low", "high")], rel=0.005
        )
    assert tables.FORMS.keys() == {row["form"] for row in measured}


def test_the_measurement_shows_what_symmetric_pairs_are_for():
    """At the guide's size: at most 2 GB, and no more than 1.5 times as long as the plain network."""
    (entry,) = (entry for entry in DATA if entry["device"] == "cuda")
    forms = {row["form"]: row for row in entry["forms"]}
    plain, ours = forms["ordered"], forms["once_recomputed"]
    assert (plain["tokens"], ours["tokens"]) == (53**2, 53 * 52 / 2)
    assert ours["peak_bytes"] <= 2e9 < forms["ordered_recomputed"]["peak_bytes"] < plain["peak_bytes"]
    assert ours["ratio"]["high"] <= 1.5
    assert forms["once_real_recomputed"]["peak_bytes"] < ours["peak_bytes"]
    assert forms["once_fused"]["peak_bytes"] < forms["once"]["peak_bytes"]
