"""The default trainings, to their end, draw plans whose corners stand in line."""

import json

import pytest

from examples.floorplan_diffusion import generate, train_edges, train_nodes

pytestmark = [pytest.mark.long, pytest.mark.timeout(1800)]  # two trainings of a minute or two


def test_default_trainings_draw_plans_with_corners_in_line(tmp_path, monkeypatch, one_thread):
    monkeypatch.chdir(tmp_path)
    for program in (train_nodes, train_edges):
        assert program.PROGRAM.main(["--device", "cpu"]) == 0
    assert generate.main(["--device", "cpu", "--out", "drawn"]) == 0
    summaries = [json.loads(path.read_text()) for path in sorted(tmp_path.glob("runs/*/*/*/summary.json"))]
    edges, nodes = summaries  # by name of the program
    assert edges["val_f1"] > 0.98
    assert nodes["val_loss"] < 1.5 and nodes["val_place_loss"] < 0.3  # 10 and 2 without training
    drawn = json.loads((tmp_path / "drawn/metrics.json").read_text())["drawn"]
    assert drawn["axis_distance"] < 2, "pixels; random corners have about 2.3"
    assert drawn["line_distance"] < 5, "pixels; random corners have about 9"
    assert drawn["closed"] > 0.02
