"""The pictures of floor plans: what is stored is what was drawn, and the pictures show it."""

import json
import re

import numpy
import pytest

from examples.floorplan_diffusion.generated_plans import generate_plans
from examples.floorplan_diffusion.plan_files import write_plans
from examples.floorplan_diffusion.plans import PlanSet
from examples.floorplan_diffusion.sampled_corners import SHOWN, Batch, save_batch
from tools.drawing import floorplan_gallery as tool
from tools.drawing.page_pictures import FOLDER

STORED = json.loads(tool.DATA.read_text(encoding="utf-8"))
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


def test_stored_plans_and_moments_are_those_of_the_folder(folder):
    path, plans, noise = folder
    found = json.loads(json.dumps(tool.samples(path)))
    assert found["options"] == OPTIONS
    assert len(found["plans"]) == tool.STORED
    for plan, stored in zip(plans, found["plans"], strict=False):
        again = tool.read_plan(stored)
        for name in ("corners", "kinds", "walls"):
            assert numpy.array_equal(getattr(again, name), getattr(plan, name)), name
    assert [moment["to_go"] for moment in found["way"]] == list(SHOWN)
    moment = tool.read_moment(found["way"][2])
    assert numpy.allclose(moment.places, (noise[2, :, :2] + 1) * 128, atol=0.06)
    assert numpy.array_equal(moment.kinds, noise[2, :, 2:9] > 0)
    assert numpy.array_equal(moment.real, noise[2, :, 9] < 0)


def test_the_stored_file_is_small_and_whole():
    assert tool.DATA.stat().st_size < 60_000
    assert len(STORED["plans"]) == tool.STORED
    assert STORED["way"][0]["to_go"] == 1000 and STORED["way"][-1]["to_go"] == 0
    last, first = tool.read_moment(STORED["way"][-1]), tool.read_plan(STORED["plans"][0])
    apart = numpy.abs(last.places[last.real][:, None] - first.corners).max(axis=2)
    assert max(apart.min(axis=0).max(), apart.min(axis=1).max()) < 0.6, "the way leads to the first plan"


def test_the_pictures_in_the_repository_are_drawn_from_the_data():
    drawn = tool.pictures()
    assert len(drawn) == 16
    for name, text in drawn.items():
        assert (FOLDER / name).read_text(encoding="utf-8") == text, (
            "run python -m tools.drawing.floorplan_gallery"
        )


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_both_languages_show_the_same_shapes(scheme):
    for name in tool.DRAWN:
        both = [
            (FOLDER / f"floorplan-{name}-{scheme}.{language}.svg").read_text("utf-8")
            for language in tool.WORDS
        ]
        outlines = [re.findall(r'<polygon points="([^"]+)" fill="([^"]+)"', text) for text in both]
        assert outlines[0] == outlines[1] and outlines[0]


def test_drawn_plans_alternate_with_plans_by_the_rule():
    titles = re.findall(r">([^<]+)</text>", tool.compared("en", dark=False).svg())
    words = tool.TITLES["en"]
    pairs = [title for title in titles if title in (words["network"], words["generator"])]
    assert pairs == [words["network"], words["generator"]] * tool.COMPARED


@pytest.mark.parametrize("name", list(tool.DRAWN))
def test_chinese_pictures_have_chinese_words(name):
    texts = re.findall(r">([^<]+)</(?:text|title|desc)>", tool.DRAWN[name]("zh", False).svg())
    assert texts and all(re.search("[\u4e00-\u9fff]", text) for text in texts)
