"""The picture of the two towers' memory: its bars are as long as the data say, with the value at the end."""

import pytest
import yaml
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from examples.programs.report import HELD_OUT, TRAINING
from tools.drawing import two_tower_memory as tool


def test_bars_show_the_measurement():
    figure = Figure()
    tool.draw(figure)
    (entry,) = (
        entry for entry in yaml.safe_load(tool.DATA.read_text(encoding="utf-8")) if entry["device"] == "cuda"
    )
    scan, loop, recomputed = entry["ways"]
    order = loop, recomputed, scan
    shown = [[bar.get_width() for bar in axes.patches] for axes in figure.axes]
    assert shown[0] == pytest.approx([60.2, *(row["kept_bytes"] / 256e6 for row in order)])
    assert shown[1] == pytest.approx([row["peak_bytes"] / 1e9 for row in order])
    assert shown[2] == pytest.approx([row["seconds"]["median"] * 1e3 for row in order])
    for axes, widths in zip(figure.axes, shown, strict=True):
        assert [float(text.get_text()) for text in axes.texts] == pytest.approx(widths, abs=0.5)
        colours = [to_hex(bar.get_facecolor()) for bar in axes.patches]
        assert colours == [HELD_OUT] * (len(widths) - 1) + [TRAINING], "ours is the last"


def test_the_measurement_shows_what_the_scan_is_for():
    """At the guide's size and batch size, the scans of all layers keep a fifth of a gigabyte at most."""
    ways = tool.measured()
    scan, loop, recomputed = (ways[name] for name in ("scan", "loop", "recomputed"))
    assert scan["scans_bytes"] <= 0.2e9
    assert loop["scans_bytes"] > 100 * scan["scans_bytes"]
    assert scan["seconds"]["high"] < loop["seconds"]["low"] < recomputed["seconds"]["low"]
    assert scan["peak_bytes"] < recomputed["peak_bytes"] < loop["peak_bytes"]
