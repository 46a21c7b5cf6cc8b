"""What is stored of drawn plans is what generate.py left in its folder, and the stored file is whole."""

import json

import numpy
import pytest

from examples.floorplan_diffusion.generated_plans import generate_plans
from examples.floorplan_diffusion.plan_files import write_plans
from examples.floorplan_diffusion.plans import PlanSet
from examples.floorplan_diffusion.rooms import find_rooms
from examples.floorplan_diffusion.sampled_corners import SHOWN, Batch, save_batch
from tools.measuring import floorplan_samples as tool

OPTIONS = {"sampler": "ddpm", "steps": 1000, "threshold": 0.5, "seed": 0}


@pytest.fixture
def folder(tmp_path):
    """Return a folder as generate.py leaves it, with plans of the generator and noise."""
    plans = generate_plans(14, 0)
    (tmp_path / "batches").mkdir()
    write_plans(tmp_path / "plans.npz", PlanSet.of("drawn", "", list(plans)))
    noise = numpy.random.default_rng(0).normal(size=(len(SHOWN), 19, 10)).astype(numpy.float32)
    save_batch(tmp_path / "batches" / "0000.npz", Batch(noise[:1], noise, numpy.array(SHOWN)))
    (tmp_path / "metrics.json").write_text(json.dumps({"options": OPTIONS | {"count": 14}}))
    return tmp_path, list(plans), noise


def bits(rows):
    return numpy.array([list(row) for row in rows]) == "1"


def test_stored_plans_and_moments_are_those_of_the_folder(folder, tmp_path):
    path, plans, noise = folder
    tool.write(tool.samples(path), tmp_path / "samples.json")
    found = json.loads((tmp_path / "samples.json").read_text(encoding="utf-8"))
    assert found["options"] == OPTIONS
    assert len(found["plans"]) == tool.STORED and len(found["rule"]) == tool.BY_RULE
    for plan, stored in zip(plans, found["plans"], strict=False):
        assert numpy.array_equal(stored["corners"], plan.corners)
        assert numpy.array_equal(bits(stored["kinds"]), plan.kinds)
        assert numpy.array_equal(stored["walls"], plan.walls)
        rooms = [(room["kind"], tuple(room["corners"])) for room in stored["rooms"]]
        assert rooms == [(room.kind, room.corners) for room in find_rooms(plan)]
    assert [moment["to_go"] for moment in found["way"]] == list(SHOWN)
    moment = found["way"][2]
    assert numpy.allclose(moment["places"], (noise[2, :, :2] + 1) * 128, atol=0.06)
    assert numpy.array_equal(bits(moment["kinds"]), noise[2, :, 2:9] > 0)
    assert numpy.array_equal(bits([moment["real"]])[0], noise[2, :, 9] < 0)


def test_the_stored_way_leads_to_a_plan():
    stored = json.loads(tool.DATA.read_text(encoding="utf-8"))
    assert stored["way"][0]["to_go"] == 1000 and stored["way"][-1]["to_go"] == 0
    last, first = stored["way"][-1], numpy.array(stored["plans"][0]["corners"])
    places = numpy.array(last["places"])[bits([last["real"]])[0]]
    apart = numpy.abs(places[:, None] - first).max(axis=2)
    assert max(apart.min(axis=0).max(), apart.min(axis=1).max()) < 4, "but for walls made straight"
