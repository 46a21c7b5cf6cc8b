"""Metrics of plans and walls with known values."""

import math

import numpy
import pytest
import torch

from examples.floorplan_diffusion.generated_plans import generate_plans
from examples.floorplan_diffusion.metrics import (
    accuracy,
    axis_distance,
    axis_distances,
    closed_share,
    f1,
    histogram_distance,
    line_distance,
    line_distances,
    mean_corners,
    pairs_of_corners,
    room_histograms,
)
from examples.floorplan_diffusion.plans import KINDS, Plan, PlanSet

SQUARE = [(50, 50), (150, 50), (150, 150), (50, 150)]
AROUND = [(0, 1), (1, 2), (2, 3), (0, 3)]


def plan(corners, walls, kind="kitchen"):
    bits = numpy.zeros((len(corners), len(KINDS)), dtype=bool)
    bits[:, KINDS.index(kind)] = True
    return Plan(numpy.array(corners, float).reshape(-1, 2), bits, numpy.array(walls, int).reshape(-1, 2))


def test_axis_distances_of_known_corners():
    """The second is 3 to the right of the first, the third 5 below the second."""
    assert axis_distances(numpy.array([(10.0, 10.0), (13.0, 80.0), (200.0, 85.0)])).tolist() == [3, 3, 5]
    assert axis_distances(numpy.array([(10.0, 10.0)])).tolist() == []
    assert axis_distances(numpy.zeros((0, 2))).tolist() == []


def test_axis_distance_is_the_median_over_all_corners():
    first, second = plan([(0, 0), (1, 50)], []), plan([(0, 0), (4, 60), (80, 65)], [])
    assert axis_distance([first, second]) == 4  # of 1, 1, 4, 4, 5
    assert math.isnan(axis_distance([]))


def test_line_distances_of_known_corners():
    """Nearest in x: 3, 3, 187; nearest in y: 70, 5, 5."""
    assert line_distances(numpy.array([(10.0, 10.0), (13.0, 80.0), (200.0, 85.0)])).tolist() == [70, 5, 187]
    assert line_distances(numpy.array(SQUARE, float)).tolist() == [0] * 4
    assert line_distances(numpy.array([(10.0, 10.0)])).tolist() == []
    assert line_distances(numpy.zeros((0, 2))).tolist() == []


def test_line_distance_is_the_median_over_all_corners():
    first, second = plan([(0, 0), (1, 50)], []), plan([(0, 0), (4, 60), (80, 65)], [])
    assert line_distance([first, second]) == 50  # of 50, 50, 60, 5, 76
    assert math.isnan(line_distance([])) and math.isnan(line_distance([plan([(1, 1)], [])]))


def test_line_distance_tells_plans_from_random_corners():
    """The axis distance hardly does: among a dozen random corners, one has nearly the same x or y."""
    plans = list(generate_plans(100, 0))
    random = numpy.random.default_rng(0)
    corners = [plan(random.uniform(40, 216, one.corners.shape), []) for one in plans]
    assert (axis_distance(plans), line_distance(plans)) == (0, 0)
    assert axis_distance(corners) == pytest.approx(2.3, abs=0.3)
    assert line_distance(corners) == pytest.approx(8.7, abs=0.8)


def test_generated_plans_are_perfect():
    plans = generate_plans(40, 0)
    assert axis_distance(plans) == line_distance(plans) == 0
    assert closed_share(plans) == 1
    assert mean_corners(plans) == plans.counts.float().mean()


def test_closed_share_and_mean_of_corners():
    plans = [plan(SQUARE, AROUND), plan(SQUARE, AROUND[:3]), plan([*SQUARE, (9, 9)], AROUND), plan([], [])]
    assert closed_share(plans) == 0.25
    assert mean_corners(plans) == 13 / 4
    assert math.isnan(closed_share([])) and math.isnan(mean_corners([]))


def test_room_histograms_of_known_plans():
    two = [*AROUND, (1, 4), (4, 5), (2, 5)]
    plans = [
        plan(SQUARE, AROUND),
        plan([*SQUARE, (250, 50), (250, 150)], two),
        plan(SQUARE, AROUND, "balcony"),
        plan(SQUARE, []),
    ]
    found = {name: histogram.tolist() for name, histogram in room_histograms(plans).items()}
    none = {name: [1] for name in KINDS[:-1]}
    assert found == {
        "total": [0.25, 0.5, 0.25],
        **none,
        "kitchen": [0.5, 0.25, 0.25],
        "balcony": [0.75, 0.25],
    }
    assert list(found) == ["total", *KINDS[:-1]]


@pytest.mark.parametrize(
    ("first", "second", "distance"),
    [
        ([0.5, 0.5], [0.5, 0.5], 0),
        ([1], [0, 0, 0, 1], 3),  # each plan needs three more
        ([0.5, 0.5], [0, 0.5, 0.5], 1),
        ([0, 1], [0.5, 0, 0.5], 1),  # equal means, half of the plans need one more, half one less
        ([0.25, 0.75], [0.75, 0.25, 0, 0], 0.5),
    ],
)
def test_distance_of_histograms(first, second, distance):
    first, second = numpy.array(first, float), numpy.array(second, float)
    assert histogram_distance(first, second) == histogram_distance(second, first) == pytest.approx(distance)


def test_wall_scores_by_hand():
    true = torch.tensor([True, True, True, False, False, False, False, False])
    predicted = torch.tensor([True, True, False, True, False, False, False, False])
    assert f1(predicted, true) == f1(true, predicted) == pytest.approx(2 * 2 / (2 * 2 + 1 + 1))
    assert accuracy(predicted, true) == 6 / 8
    nothing = torch.zeros_like(true)
    assert (f1(nothing, true), accuracy(nothing, true)) == (0, 5 / 8)
    assert (f1(true, true), accuracy(true, true)) == (1, 1)
    assert f1(nothing, nothing) == 1
    assert math.isnan(accuracy(nothing[:0], nothing[:0]))


def test_pairs_are_those_of_real_corners_once():
    plans = PlanSet.of("test", "test", [plan(SQUARE, AROUND), plan(SQUARE[:2], [(0, 1)])])
    pairs = pairs_of_corners(plans)
    assert pairs.shape == (2, 4, 4)
    assert [list(map(tuple, part.nonzero().tolist())) for part in pairs] == [
        [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)],
        [(0, 1)],
    ]
    assert plans.walls[pairs].sum() == 5


def test_no_wall_anywhere_is_mostly_right():
    """Which is why F1 is reported: systems of pairs without walls make the accuracy look good."""
    plans = generate_plans(100, 1)
    true = plans.walls[pairs_of_corners(plans)]
    nothing = torch.zeros_like(true)
    assert accuracy(nothing, true) > 0.78
    assert f1(nothing, true) == 0
