"""A plan from drawn rooms: closed outlines with the kinds of the rooms."""

from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise

import numpy
from matplotlib.path import Path as Outline

from examples.floorplan_diffusion.plans import CANVAS, KINDS, MOST_CORNERS, OUTSIDE, Plan
from examples.floorplan_diffusion.room_names import distances
from examples.floorplan_diffusion.rooms import ON_WALL, distinct_walls, find_rooms, walls_cross

TURN = 1.0  # degrees: angles that add up to 360 within this have no outside


@dataclass(frozen=True)
class DrawnRoom:
    """A room as it was drawn; y grows downwards."""

    kind: int  # place in KINDS, never OUTSIDE
    corners: numpy.ndarray  # (corners, 2) float64, in the unit of the plan, without the first one at the end


@dataclass(frozen=True)
class DrawnPlan:
    """The rooms of one plan as they were drawn."""

    where: str  # file and number, for messages
    rooms: list[DrawnRoom]
    unit: str  # one of UNITS
    notes: Counter = field(default_factory=Counter)  # what of the file was not read, with counts
    unnamed: Counter = field(default_factory=Counter)  # names of closed lines that could be rooms


def plan_of_rooms(rooms: list[DrawnRoom]) -> Plan:
    """Return the plan of rooms whose corners are whole pixels on the canvas. Raises ValueError.

    Each side of a room becomes a wall, cut where it passes a corner. A corner has the kinds of all rooms that
    touch it, and "outside" unless their angles there add up to a full turn.
    """
    for room in rooms:
        check_outline(room)
    corners = numpy.unique(numpy.concatenate([room.corners for room in rooms]), axis=0)
    if len(corners) > MOST_CORNERS:
        raise ValueError(f"{len(corners)} corners; a plan has at most {MOST_CORNERS}")
    number = {tuple(corner): index for index, corner in enumerate(corners.tolist())}
    sides = {
        tuple(sorted((number[tuple(a)], number[tuple(b)])))
        for room in rooms
        for a, b in pairwise([*room.corners.tolist(), room.corners[0].tolist()])
    }
    kinds = numpy.zeros((len(corners), len(KINDS)), dtype=bool)
    turns = numpy.zeros(len(corners))
    for room in rooms:
        angles = angles_at(room.corners, corners)
        kinds[angles > 0, room.kind] = True
        turns += angles
    kinds[:, OUTSIDE] = turns < 360 - TURN
    plan = Plan(corners, kinds, numpy.array(sorted(sides)))
    walls = distinct_walls(plan)
    plan = Plan(corners, kinds, numpy.array(walls))
    if walls_cross(walls, corners) or max(rooms_per_face(plan, rooms)) > 1:
        raise ValueError("rooms overlap; --snap 3 brings sides that are up to 3 pixels apart to one line")
    return plan


def check_outline(room: DrawnRoom) -> None:
    """Raise ValueError unless the corners of a room, on the canvas, are a simple polygon with an area."""
    corners, kind = room.corners, KINDS[room.kind]
    if (corners < 0).any() or (corners > CANVAS - 1).any():
        raise ValueError(f"{kind}: a corner is outside of the canvas of {CANVAS} × {CANVAS} pixels")
    if len(corners) < 3 or abs(area(corners)) < 1:
        raise ValueError(f"{kind}: no area is left at whole pixels")
    if len(numpy.unique(corners, axis=0)) < len(corners):
        raise ValueError(f"{kind}: the outline touches itself")
    ring = [(index, (index + 1) % len(corners)) for index in range(len(corners))]
    if walls_cross(ring, corners):
        raise ValueError(f"{kind}: the outline crosses itself")


def area(corners: numpy.ndarray) -> float:
    """Return the area of a polygon, positive when it runs clockwise on the screen."""
    x, y = corners.T
    return float(numpy.sum(x * numpy.roll(y, -1) - numpy.roll(x, -1) * y) / 2)


def angles_at(outline: numpy.ndarray, places: numpy.ndarray) -> numpy.ndarray:
    """Return the angle of a polygon at each of the places (places,), degrees; 0 where it does not pass."""
    ring = outline if area(outline) > 0 else outline[::-1]
    sides = numpy.stack([ring, numpy.roll(ring, -1, axis=0)], axis=1)
    angles = numpy.where((distances(places, sides) <= ON_WALL).any(axis=1), 180.0, 0.0)
    back, ahead = numpy.roll(ring, 1, axis=0) - ring, numpy.roll(ring, -1, axis=0) - ring
    turns = numpy.degrees(numpy.arctan2(*back.T[::-1]) - numpy.arctan2(*ahead.T[::-1])) % 360
    for corner, turn in zip(ring, turns, strict=True):
        angles[(places == corner).all(axis=1)] = turn
    return angles


def rooms_per_face(plan: Plan, rooms: list[DrawnRoom]) -> list[int]:
    """Return for each area that walls enclose how many of the rooms cover it; 1 is right."""
    points = [inner_point(plan.corners[list(face.corners)]) for face in find_rooms(plan)]
    return numpy.sum([Outline(room.corners).contains_points(points) for room in rooms], axis=0).tolist()


def inner_point(corners: numpy.ndarray) -> tuple[float, float]:
    """Return a point inside a polygon: the middle of its first stretch on a line between two corners."""
    levels = numpy.unique(corners[:, 1])
    y = levels[:2].mean()
    start, end = corners, numpy.roll(corners, -1, axis=0)
    crossed = (start[:, 1] < y) != (end[:, 1] < y)
    start, end = start[crossed], end[crossed]
    x = start[:, 0] + (y - start[:, 1]) / (end[:, 1] - start[:, 1]) * (end[:, 0] - start[:, 0])
    return float(numpy.sort(x)[:2].mean()), float(y)


def changed_kinds(plan: Plan, rooms: list[DrawnRoom]) -> int:
    """Return how many of the rooms do not come back from the plan with their kind.

    A plan stores kinds at corners, and a room gets the kind of most of its corners, which can be another one.
    """
    found = Counter((frozenset(room.corners), room.kind) for room in find_rooms(plan))
    for room in rooms:
        passed = numpy.flatnonzero(angles_at(room.corners, plan.corners) > 0)
        found.subtract([(frozenset(passed.tolist()), room.kind)])
    return -sum(count for count in found.values() if count < 0)
