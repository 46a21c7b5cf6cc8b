"""Corners on common lines: what becomes one line, and what must not."""

import numpy
import pytest

from examples.floorplan_diffusion.generated_plans import generate_plans
from examples.floorplan_diffusion.metrics import line_distance
from examples.floorplan_diffusion.plan_figures import describe_plans
from examples.floorplan_diffusion.plans import Plan
from examples.floorplan_diffusion.snapping import common_lines, snapped


def lone(corners):
    """Return a plan without kinds and walls."""
    places = numpy.array(corners, dtype=float)
    return Plan(places, numpy.zeros((len(places), 7), dtype=bool), numpy.zeros((0, 2), dtype=int))


@pytest.mark.parametrize(
    ("places", "tolerance", "lines"),
    [
        ([10, 12, 13, 50], 3, [12, 12, 12, 50]),
        ([10, 12, 13, 50], 0, [10, 12, 13, 50]),
        ([50, 10, 13, 12], 3, [50, 12, 12, 12]),  # in any order
        ([10, 14, 18, 22], 4, [12, 12, 20, 20]),  # no chain: the middles are 8 apart
        ([7], 4, [7]),
    ],
)
def test_near_places_become_one_line(places, tolerance, lines):
    assert common_lines(numpy.array(places, dtype=float), tolerance).tolist() == lines


def test_noisy_plans_get_their_lines_back():
    random, right = numpy.random.default_rng(0), 0
    for plan in generate_plans(50, 0):
        noisy = plan.corners + random.normal(0, 0.7, plan.corners.shape).round()
        found = snapped(Plan(noisy, plan.kinds, plan.walls), 4)
        assert line_distance([found]) == 0
        lines = [[len(numpy.unique(axis)) for axis in places.T] for places in (found.corners, plan.corners)]
        right += lines[0] == lines[1]
    assert right >= 48


def test_corners_that_meet_have_the_rooms_of_both():
    plan = Plan(numpy.array([[10.0, 10], [12, 11]]), numpy.eye(7, dtype=bool)[:2], numpy.zeros((0, 2), int))
    found = snapped(plan, 3)
    assert len(found.corners) == 1 and found.kinds[0].nonzero()[0].tolist() == [0, 1]


def test_corners_on_the_frame_do_not_count():
    noise = lone([[0, 0], [0, 255], [255, 0], [255, 255], [30, 0], [100, 90], [140, 200]])
    found = describe_plans([noise], [])
    assert found["drawn"]["line_distance"] == 110  # of the two corners inside: the larger of 40 and 110
    assert numpy.isnan(describe_plans([lone([[0, 0], [0, 255]])], [])["drawn"]["line_distance"])
    assert found["random"]["line_distance"] > 5


def test_the_report_is_about_corners_as_drawn():
    found = describe_plans([lone([[10, 10], [10, 50]])], [], [lone([[10, 10], [13, 50]])])
    assert found["drawn"]["axis_distance"] == 3
