"""The picture of stage 2's memory: its bars are as long as the data say, with the value at the end."""

import pytest
import yaml
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from examples.programs.report import HELD_OUT, TRAINING
from tools.drawing import floorplan_memory as tool


def test_bars_show_the_measurement():
    figure = Figure(figsize=(5, 6))
    tool.draw(figure)
    (entry,) = (
        entry for entry in yaml.safe_load(tool.DATA.read_text(encoding="utf-8")) if entry["device"] == "cuda"
    )
    rows = entry["forms"][:7]  # those after them compute in bf16
    shown = [[bar.get_width() for bar in axes.patches] for axes in figure.axes]
    assert shown[0] == pytest.approx([row["peak_bytes"] / 1e9 for row in rows])
    assert shown[1] == pytest.approx([row["seconds"]["median"] * 1e3 for row in rows])
    for axes, widths in zip(figure.axes, shown, strict=True):
        assert [float(text.get_text()) for text in axes.texts] == pytest.approx(widths, abs=0.5)
        assert [label.get_text() for label in axes.get_yticklabels()] == list(tool.ROWS.values())
        ours = [to_hex(bar.get_facecolor()) == TRAINING for bar in axes.patches]
        assert ours == [row["form"] == "once_recomputed" for row in rows]
        assert {to_hex(bar.get_facecolor()) for bar in axes.patches} == {TRAINING, HELD_OUT}


def test_the_measurement_shows_what_symmetric_pairs_are_for():
    """At the guide's size: at most 2 GB, and no more than 1.5 times as long as the plain network."""
    forms = tool.measured()
    plain, ours = forms["ordered"], forms["once_recomputed"]
    assert (plain["tokens"], ours["tokens"]) == (53**2, 53 * 52 / 2)
    assert ours["peak_bytes"] <= 2e9 < forms["ordered_recomputed"]["peak_bytes"] < plain["peak_bytes"]
    assert ours["ratio"]["high"] <= 1.5
    assert ours["ratio"]["median"] == pytest.approx(
        ours["seconds"]["median"] / plain["seconds"]["median"], rel=0.01
    )
    assert forms["once_real_recomputed"]["peak_bytes"] < ours["peak_bytes"]
    assert forms["once_fused"]["peak_bytes"] < forms["once"]["peak_bytes"]
