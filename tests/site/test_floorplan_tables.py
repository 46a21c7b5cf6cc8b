"""What the measurement of a step of stage 2 shows."""

from origins import RESULTS

from tools.read_yaml import read_yaml

DATA = read_yaml(RESULTS / "floorplan_memory.yaml")


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
