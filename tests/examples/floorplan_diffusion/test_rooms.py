"""Rooms from walls: the rectangles of generated plans, known ones of drawn graphs, and random graphs."""

from collections import Counter

import numpy
import pytest
from scipy.spatial import Delaunay

from examples.floorplan_diffusion.generated_plans import draw_rooms, generate_plans, kinds_of_rooms, plan_of
from examples.floorplan_diffusion.plans import KINDS, OUTSIDE, Plan
from examples.floorplan_diffusion.rooms import (
    TIES,
    distinct_walls,
    find_rooms,
    is_closed,
    neighbours,
    on_cycles,
    parts,
    straightened,
    trace_faces,
    walls_cross,
)

SQUARE = [(50, 50), (150, 50), (150, 150), (50, 150)]
AROUND = [(0, 1), (1, 2), (2, 3), (0, 3)]
BEDROOM = KINDS.index("bedroom")


def plan(corners, walls, kinds=BEDROOM):
    """Return a plan; `kinds` is what all corners touch, or a list for each corner."""
    bits = numpy.zeros((len(corners), len(KINDS)), dtype=bool)
    for corner in range(len(corners)):
        bits[corner, kinds if isinstance(kinds, int) else kinds[corner]] = True
    return Plan(numpy.array(corners, float).reshape(-1, 2), bits, numpy.array(walls, int).reshape(-1, 2))


def moved(corners, right, down=0):
    return [(x + right, y + down) for x, y in corners]


def further(walls, by):
    return [(a + by, b + by) for a, b in walls]


def outlines(of):
    """Return the rooms' sets of corners, sorted."""
    return sorted(sorted(room.corners) for room in find_rooms(of))


def area(points):
    x, y = numpy.array(points, float).T
    return float(x @ numpy.roll(y, -1) - numpy.roll(x, -1) @ y) / 2


def drawn_rooms(count):
    """Yield `count` lists of rectangles."""
    random = numpy.random.default_rng(3)
    while count:
        if rooms := draw_rooms(random):
            yield rooms
            count -= 1


def test_rooms_of_generated_plans_are_their_rectangles():
    right = Counter()
    for rectangles in drawn_rooms(200):
        given = plan_of(rectangles)
        found = find_rooms(given)
        assert len(given.corners) - len(given.walls) + len(found) + 1 == 2  # V - E + F
        assert is_closed(given)
        by_box = {}
        for room in found:
            points = given.corners[list(room.corners)]
            box = (*points.min(axis=0), *points.max(axis=0))
            assert area(points) == (box[2] - box[0]) * (box[3] - box[1])
            assert len(set(room.corners)) == len(room.corners)
            by_box[box] = room.kind
        assert set(by_box) == set(rectangles) and len(found) == len(rectangles)
        assert [area(given.corners[list(room.corners)]) for room in found] == sorted(map(size, rectangles))[
            ::-1
        ]
        for box, kind in zip(rectangles, kinds_of_rooms(rectangles), strict=True):
            assert by_box[box] == by_rule(box, given)
            right[by_box[box] == kind] += 1
    assert 0.99 < right[True] / right.total() < 1  # a tie may go to a neighbour that touches all corners


def size(box):
    return (box[2] - box[0]) * (box[3] - box[1])


def by_rule(box, given):
    """Return what most corners at a rectangle touch."""
    counts = Counter()
    for (x, y), bits in zip(given.corners, given.kinds, strict=True):
        if box[0] <= x <= box[2] and box[1] <= y <= box[3]:
            counts.update(numpy.flatnonzero(bits).tolist())
    del counts[OUTSIDE]
    return next(kind for kind in (2, 4, 3, 1, 5, 0) if counts[kind] == max(counts.values()))


def test_ties_go_in_the_order_of_the_publication():
    names = ["storage", "bathroom", "kitchen", "bedroom", "balcony", "living room"]
    assert [KINDS[kind] for kind in TIES] == names
    for index, first in enumerate(TIES):
        for other in TIES[index + 1 :]:
            tied = plan(SQUARE, AROUND, [[first, other, OUTSIDE]] * 4)
            assert find_rooms(tied)[0].kind == first
            most = plan(SQUARE, AROUND, [[first, other, OUTSIDE]] * 3 + [[other, OUTSIDE]])
            assert find_rooms(most)[0].kind == other


def test_rooms_run_clockwise_on_the_screen():
    (room,) = find_rooms(plan(SQUARE, AROUND))
    start = room.corners.index(0)
    assert room.corners[start:] + room.corners[:start] == (0, 1, 2, 3)


def test_a_bridge_between_two_squares_is_left_out():
    two = plan(SQUARE + moved(SQUARE, 200), [*AROUND, *further(AROUND, 4), (1, 4)])
    assert outlines(two) == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert not is_closed(two)


def test_two_parts_are_two_rooms_but_no_closed_plan():
    two = plan(SQUARE + moved(SQUARE, 200), [*AROUND, *further(AROUND, 4)])
    assert outlines(two) == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert not is_closed(two)


def test_a_square_within_a_square_comes_last():
    """So that it is drawn above the one around it."""
    inner = [(80, 80), (120, 80), (120, 120), (80, 120)]
    nested = plan(inner + SQUARE, [*AROUND, *further(AROUND, 4)])
    assert [sorted(room.corners) for room in find_rooms(nested)] == [[4, 5, 6, 7], [0, 1, 2, 3]]
    assert not is_closed(nested)


def test_two_squares_that_share_a_corner_are_two_rooms():
    shared = [(150, 150), (250, 150), (250, 250), (150, 250)]
    assert outlines(plan(SQUARE + shared[1:], [*AROUND, (2, 4), (4, 5), (5, 6), (2, 6)])) == [
        [0, 1, 2, 3],
        [2, 4, 5, 6],
    ]


def test_inner_square_at_a_corner_leaves_the_rest():
    inner = [(100, 50), (100, 100), (50, 100)]  # shares corner 0, and its sides lie on the other's
    found = plan(SQUARE + inner, [(0, 4), (4, 1), (1, 2), (2, 3), (3, 6), (6, 0), (4, 5), (5, 6)])
    assert outlines(found) == [[0, 4, 5, 6], [1, 2, 3, 4, 5, 6]]
    assert is_closed(found)


@pytest.mark.parametrize(
    "loose",
    [
        [(100, 100)],  # a wall into the room
        [(200, 50), (200, 90)],  # two walls outwards, one after the other
    ],
    ids=["within", "outside"],
)
def test_dangling_walls_are_left_out(loose):
    walls = [(1, 4), *((4 + i, 5 + i) for i in range(len(loose) - 1))]
    dangling = plan(SQUARE + loose, AROUND + walls)
    assert outlines(dangling) == [[0, 1, 2, 3]]
    assert not is_closed(dangling)


def test_corner_without_walls_makes_the_plan_open():
    assert outlines(plan([*SQUARE, (100, 100)], AROUND)) == [[0, 1, 2, 3]]
    assert not is_closed(plan([*SQUARE, (100, 100)], AROUND))
    assert is_closed(plan(SQUARE, AROUND))


@pytest.mark.parametrize("walls", [[], [(0, 1)], [(0, 1), (1, 2), (2, 3)]], ids=["none", "one", "open"])
def test_no_cycle_no_room(walls):
    assert find_rooms(plan(SQUARE, walls)) == []
    assert not is_closed(plan(SQUARE, walls))


@pytest.mark.parametrize("walls", [numpy.zeros((0, 2), int), numpy.zeros(0, int)], ids=["pairs", "flat"])
def test_an_empty_plan(walls):
    empty = Plan(numpy.zeros((0, 2)), numpy.zeros((0, 7), bool), walls)
    assert find_rooms(empty) == []
    assert not is_closed(empty)
    assert straightened(empty).corners.shape == (0, 2)


def test_walls_on_one_line_enclose_nothing():
    line = plan([(50, 50), (100, 50), (150, 50)], [(0, 1), (1, 2), (0, 2)])
    assert find_rooms(line) == []
    assert not is_closed(line)


@pytest.mark.parametrize("numbers", [[0, 1, 2, 3, 4], [4, 3, 2, 1, 0], [2, 4, 0, 3, 1]])
@pytest.mark.parametrize("turned", [0.0, 0.3, 2.0])
def test_duplicate_wall_in_pieces_changes_nothing(numbers, turned):
    """The most frequent mistake of a network for walls: it skips a corner that lies on the way."""
    corners = numpy.array([*SQUARE, (120, 50)]) @ [
        [numpy.cos(turned), numpy.sin(turned)],
        [-numpy.sin(turned), numpy.cos(turned)],
    ]
    walls = [*AROUND, (0, 4), (1, 4)]
    placed = numpy.empty((5, 2))
    placed[numbers] = corners
    twice = plan(placed, [sorted((numbers[a], numbers[b])) for a, b in walls])
    assert outlines(twice) == [[0, 1, 2, 3, 4]]
    assert is_closed(twice)


def test_a_wall_passes_corners_in_their_order():
    """Two walls down divide the room; the upper and the lower side pass the corners of both."""
    thirds = plan([*SQUARE, (110, 50), (80, 50), (80, 150), (110, 150)], [*AROUND, (4, 7), (5, 6)])
    assert outlines(thirds) == [[0, 3, 5, 6], [1, 2, 4, 7], [4, 5, 6, 7]]
    assert is_closed(thirds)


def test_rounding_keeps_a_wall_within_its_ends():
    random = numpy.random.default_rng(4)
    for _ in range(500):
        corners = random.random((2, 2)) * 256
        assert distinct_walls(plan(corners, [(0, 1)])) == [(0, 1)]


def test_wall_ending_on_another_is_joined_to_it():
    """Both walls across end in the middle of sides, whose corners they are not joined to."""
    halves = plan([*SQUARE, (100, 50), (100, 150)], [*AROUND, (4, 5)])
    assert outlines(halves) == [[0, 3, 4, 5], [1, 2, 4, 5]]
    assert is_closed(halves)


def test_corners_at_the_same_place_count_as_one():
    """The square is closed only where the corners 0 and 4 are one."""
    doubled = plan([*SQUARE, SQUARE[0]], [(0, 1), (1, 2), (2, 3), (3, 4), (0, 4)])
    assert outlines(doubled) == [[0, 1, 2, 3]]
    assert is_closed(doubled)


def test_crossing_walls_are_seen():
    crossed = plan(SQUARE, [*AROUND, (0, 2), (1, 3)])
    assert walls_cross(distinct_walls(crossed), crossed.corners)
    assert not is_closed(crossed)
    find_rooms(crossed)
    bow = plan(SQUARE, [(0, 1), (1, 3), (2, 3), (0, 2)])
    assert walls_cross(distinct_walls(bow), bow.corners)
    assert not is_closed(bow)
    touching = plan([*SQUARE, (100, 50)], [*AROUND, (2, 4)])
    assert not walls_cross(distinct_walls(touching), touching.corners)


def test_walls_on_cycles_equal_those_found_by_removal():
    """By taking out every wall in turn."""
    random = numpy.random.default_rng(0)
    seen = Counter()
    for _ in range(60):
        count = int(random.integers(2, 12))
        pairs = numpy.argwhere(numpy.triu(random.random((count, count)) < random.choice([0.15, 0.3]), 1))
        walls = [tuple(pair) for pair in pairs.tolist()]
        kept = []
        for a, b in walls:
            others = [wall for wall in walls if wall != (a, b)]
            kept += [(a, b)] if any(a in part and b in part for part in parts(others)) else []
        assert on_cycles(walls) == kept
        seen.update(wall in kept for wall in walls)
    assert min(seen[True], seen[False]) > 100


def test_planar_graphs_have_as_many_rooms_as_cycles():
    """By Euler's formula; and rooms cover each part once, so they are as large as what is around it."""
    random = numpy.random.default_rng(1)
    rooms = 0
    for _ in range(120):
        corners = random.random((int(random.integers(4, 40)), 2)) * 20_000  # so none lies on another's wall
        edges = {
            (min(a, b), max(a, b))
            for triangle in Delaunay(corners).simplices.tolist()
            for a, b in zip(triangle, triangle[1:] + triangle[:1], strict=True)
        }
        walls = [edge for edge in sorted(edges) if random.random() < 0.8]
        given = plan(corners, walls)
        kept = on_cycles(distinct_walls(given))
        found = find_rooms(given)
        assert len(found) == len(kept) - len(neighbours(kept)) + len(parts(kept))
        faces = [area(corners[face]) for face in trace_faces(kept, corners)]
        assert len(faces) == len(found) + len(parts(kept))
        assert sum(faces) == pytest.approx(0, abs=1e-3)
        rooms += len(found)
    assert rooms > 1000


def test_any_graph_is_traced_once():
    """Walls that cross, corners at the same place, no corner at all, every wall there can be."""
    random = numpy.random.default_rng(2)
    crossing = 0
    for _ in range(120):
        count = int(random.integers(0, 31))
        step = int(random.choice([1, 8, 64]))
        corners = random.integers(0, 256, (count, 2)) // step * step
        share = random.random() ** 3
        walls = numpy.argwhere(numpy.triu(random.random((count, count)) < share, 1))
        kinds = random.random((count, len(KINDS))) < 0.3
        for given in (made := Plan(corners.astype(float), kinds, walls), straightened(made)):
            kept = on_cycles(distinct_walls(given))
            passed = Counter(
                step
                for face in trace_faces(kept, given.corners)
                for step in zip(face, face[1:] + face[:1], strict=True)
            )
            assert passed == Counter([*kept, *((b, a) for a, b in kept)])
            for room in find_rooms(given):
                assert 1 <= area(given.corners[list(room.corners)]) < 256**2 * len(kept)
                assert room.kind in range(OUTSIDE)
            crossing += bool(kept) and walls_cross(kept, given.corners)
            is_closed(given)
    assert crossing > 100


def test_nearly_straight_walls_become_straight():
    skew = plan([(50, 52), (150, 48), (153, 150), (49, 154)], AROUND)
    assert straightened(skew).corners.tolist() == [[49.5, 50], [151.5, 50], [151.5, 152], [49.5, 152]]
    assert straightened(skew, tolerance=3).corners.tolist() == [
        [49.5, 52],
        [151.5, 48],
        [151.5, 150],
        [49.5, 154],
    ]
    assert straightened(skew).walls is skew.walls and straightened(skew).kinds is skew.kinds


def test_near_straight_corners_share_their_mean():
    line = plan([(0, 10), (50, 13), (100, 16), (200, 30)], [(0, 1), (1, 2), (2, 3)])
    assert straightened(line).corners.tolist() == [[0, 13], [50, 13], [100, 13], [200, 30]]


def test_a_short_wall_is_straightened_across_its_shorter_side():
    """Both of its sides are within the tolerance."""
    short = plan([(10, 10), (13, 11)], [(0, 1)])
    assert straightened(short).corners.tolist() == [[10, 10.5], [13, 10.5]]


def test_straightening_mends_jitter():
    random = numpy.random.default_rng(5)
    for given in generate_plans(20, 5):
        noisy = Plan(given.corners + random.uniform(-0.9, 0.9, given.corners.shape), given.kinds, given.walls)
        mended = straightened(noisy)
        level = numpy.abs(mended.corners[mended.walls[:, 0]] - mended.corners[mended.walls[:, 1]]).min(axis=1)
        assert level.max() < 1e-9
        assert numpy.abs(mended.corners - given.corners).max() < 0.9
        assert is_closed(mended) and len(find_rooms(mended)) == len(find_rooms(given))
