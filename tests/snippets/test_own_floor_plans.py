"""The flats of the page on one's own plans are read as they are meant."""

import runpy
from pathlib import Path

from examples.floorplan_diffusion.check_data import keys
from examples.floorplan_diffusion.open_forms import read_drawings, to_plans
from examples.floorplan_diffusion.rooms import find_rooms, is_closed


def test_the_flats_have_three_rooms_each(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(Path(__file__).parents[2] / "snippets/own_floor_plans.py"))
    plans, findings = to_plans(read_drawings([tmp_path / "flats.json"], None, {}), None, 0)
    assert len(plans) == 40 and not findings.bad and not findings.notes
    assert findings.scale.pixels_per_metre == 19  # of 232 pixels for 11.9 m, the deepest flat
    assert len(set(keys(plans))) == 40, "a plan of the training split must not be in another one"
    assert all(is_closed(plan) for plan in plans)
    assert {tuple(sorted(room.kind for room in find_rooms(plan))) for plan in plans} == {(0, 1, 4)}
