"""Generated plans: which corners a wall joins is known exactly, and what each room is follows a rule."""

import itertools

import numpy
import pytest
import torch

from examples.floorplan_diffusion.generated_plans import (
    draw_rooms,
    generate_plans,
    generate_splits,
    kinds_of_rooms,
    plan_of,
)
from examples.floorplan_diffusion.plans import KINDS, MOST_CORNERS
from tests.examples.floorplan_diffusion.data_files import assert_equal, check_plans


@pytest.fixture(scope="module")
def drawn():
    """Return 400 plans and the rooms that each was drawn from."""
    random, found = numpy.random.default_rng(0), []
    while len(found) < 400:
        rooms = draw_rooms(random)
        if rooms:
            found.append((rooms, plan_of(rooms)))
    return found


def joined(plan):
    """Return the walls by the rule: corners that follow one another on a level or upright line."""
    found = set()
    for axis in (0, 1):
        for line in numpy.unique(plan.corners[:, axis]):
            on_line = numpy.flatnonzero(plan.corners[:, axis] == line)
            on_line = on_line[plan.corners[on_line, 1 - axis].argsort()].tolist()
            found |= {(min(pair), max(pair)) for pair in itertools.pairwise(on_line)}
    return found


def test_walls_join_exactly_the_neighbours_on_a_line(drawn):
    for _, plan in drawn:
        walls = list(map(tuple, plan.walls.tolist()))
        assert set(walls) == joined(plan) and len(walls) == len(set(walls))


def test_rule_fails_for_two_cuts_on_one_line():
    """What the generator avoids: two walls on one line with a room between, which the rule would join."""
    rooms = [(0, 0, 40, 40), (40, 0, 90, 20), (40, 20, 90, 40), (0, 40, 90, 80)]
    rooms += [(90, 0, 130, 80), (130, 0, 170, 20), (130, 20, 170, 80)]
    plan = plan_of(rooms)
    assert set(map(tuple, plan.walls.tolist())) < joined(plan)


def test_corners_walls_and_rooms_obey_euler(drawn):
    for rooms, plan in drawn:
        assert len(plan.corners) - len(plan.walls) + len(rooms) + 1 == 2


def test_four_to_eight_rooms_at_least_20_pixels(drawn):
    assert {len(rooms) for rooms, _ in drawn} == {4, 5, 6, 7, 8}
    for rooms, plan in drawn:
        sides = numpy.array([[room[2] - room[0], room[3] - room[1]] for room in rooms])
        assert sides.min() >= 20
        assert plan.corners.min() >= 0 and plan.corners.max() <= 255
        for one, other in itertools.combinations(rooms, 2):  # and none lies over another
            assert one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]
    assert max(len(plan.corners) for _, plan in drawn) < MOST_CORNERS


def test_corner_kinds_are_those_of_adjacent_rooms(drawn):
    """Counted in a picture of the plan: the four pixels around a corner."""
    for rooms, plan in drawn:
        picture = numpy.full((258, 258), KINDS.index("outside"))  # shifted by one, so that all have a border
        for (left, top, right, bottom), kind in zip(rooms, kinds_of_rooms(rooms), strict=True):
            picture[top + 1 : bottom + 1, left + 1 : right + 1] = kind
        for (x, y), kinds in zip(plan.corners.astype(int), plan.kinds, strict=True):
            around = set(picture[y : y + 2, x : x + 2].ravel().tolist())
            assert set(numpy.flatnonzero(kinds).tolist()) == around


SIX = [(0, 0, 100, 100), (100, 0, 120, 20), (100, 20, 120, 50), (100, 50, 120, 100), (0, 100, 60, 160)]
SIX += [(60, 100, 120, 160)]
EXPECTED = {
    4: ["living room", "bathroom", "kitchen", "bedroom"],
    5: ["living room", "bathroom", "kitchen", "bedroom", "bedroom"],
    6: ["living room", "bathroom", "kitchen", "storage", "bedroom", "bedroom"],
    7: ["living room", "bathroom", "kitchen", "storage", "balcony", "bedroom", "bedroom"],
}


@pytest.mark.parametrize("count", EXPECTED)
def test_kinds_follow_from_the_sizes(count):
    rooms = [*SIX, (0, 160, 120, 200)][:count]
    if count == 7:
        rooms[4] = (0, 100, 50, 160)
    assert [KINDS[kind] for kind in kinds_of_rooms(rooms)] == EXPECTED[count]
    backwards = [KINDS[kind] for kind in kinds_of_rooms(rooms[::-1])]
    if count != 6:  # there two rooms are of one size, and both are bedrooms
        assert backwards == EXPECTED[count][::-1]


def test_equal_seeds_give_equal_plans_and_others_do_not():
    assert_equal(generate_plans(20, 5), generate_plans(20, 5))
    one, other = generate_plans(20, 5).padded(53), generate_plans(20, 6).padded(53)
    assert not torch.equal(one.corners, other.corners)
    few, many = list(generate_plans(5, 5)), list(generate_plans(20, 5))  # more plans begin with the same
    assert all(numpy.array_equal(a.corners, b.corners) for a, b in zip(few, many, strict=False))


def test_splits_have_their_own_plans():
    splits = generate_splits(200, 0)
    assert [len(part) for part in (splits.train, splits.val, splits.test)] == [200, 20, 20]
    assert len(generate_splits(20, 0).val) == 8
    seen = [plan.corners for part in (splits.train, splits.val, splits.test) for plan in part]
    assert len({corners.tobytes() for corners in seen}) == 240
    assert splits.most_corners() == max(map(len, seen))
    check_plans(splits.train)
