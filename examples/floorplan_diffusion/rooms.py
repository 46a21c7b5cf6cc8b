"""Find the rooms of a plan: the faces of the planar graph of its walls."""

from collections import deque
from dataclasses import dataclass, replace
from itertools import pairwise
from math import atan2

import numpy

from examples.floorplan_diffusion.plans import Plan

TIES = (2, 4, 3, 1, 5, 0)  # order of kinds with equal counts: small rooms before large ones
ON_WALL = 0.5  # pixels: a corner within this distance of a wall is on it
LEAST_AREA = 1.0  # square pixels; smaller faces are between walls on one line
Walls = list[tuple[int, int]]
Neighbours = dict[int, list[int]]


@dataclass(frozen=True)
class Room:
    """One room of a plan."""

    corners: tuple[
        int, ...
    ]  # numbers of the plan's corners, clockwise on the screen, where y grows downwards
    kind: int  # place in KINDS, never OUTSIDE


# --8<-- [start:find_rooms]
def find_rooms(plan: Plan) -> list[Room]:
    """Return the rooms of a plan, the largest first.

    Corners at the same place count as one, the first of them. Walls that are on no cycle enclose nothing and
    are ignored. A room inside another one does not cut a hole into it, so draw the rooms in their order.
    Where walls cross, rooms may overlap.
    """
    walls = on_cycles(distinct_walls(plan))
    x, y = plan.corners.T
    found = []
    for face in trace_faces(walls, plan.corners):
        area = numpy.sum(x[face] * numpy.roll(y[face], -1) - numpy.roll(x[face], -1) * y[face]) / 2
        if area >= LEAST_AREA:  # the outer face of each part has a negative area
            found.append((area, Room(tuple(face), majority(plan.kinds[face]))))
    return [room for area, room in sorted(found, key=lambda pair: (-pair[0], pair[1].corners))]


def majority(kinds: numpy.ndarray) -> int:
    """Return the kind that most of a room's corners touch, but not "outside". `kinds`: (corners, 7) bool."""
    counts = kinds.sum(axis=0)
    return max(TIES, key=lambda kind: counts[kind])  # the first of equals


def trace_faces(walls: Walls, corners: numpy.ndarray) -> list[list[int]]:
    """Return all faces as indices of corners: rooms clockwise, the outer face of each part counter-clockwise.

    Each wall is traversed once in each direction. At a corner the next wall is the one with the sharpest
    right turn.
    """
    around = neighbours(walls)
    following = {}
    for corner, others in around.items():
        dx, dy = (corners[others] - corners[corner]).T
        angles = [atan2(down, right) for right, down in zip(dx.tolist(), dy.tolist(), strict=True)]
        ordered = [other for _, other in sorted(zip(angles, others, strict=True))]
        for before, other in zip(ordered[-1:] + ordered, ordered, strict=False):
            following[other, corner] = (corner, before)
    faces = []
    while following:
        start = next(iter(following))
        face, step = [], start
        while step in following:
            face.append(step[0])
            step = following.pop(step)
        faces.append(face)
    return faces


# --8<-- [end:find_rooms]
def distinct_walls(plan: Plan) -> Walls:
    """Return the distinct walls between places, split where they pass a corner.

    So a wall that also exists in two pieces counts once, and one that ends at the middle of another is
    joined to it.
    """
    places, place = numpy.unique(plan.corners, axis=0, return_index=True, return_inverse=True)[1:]
    ends = numpy.unique(places[place.reshape(-1)][plan.walls.reshape(-1, 2)], axis=0)
    ends = ends[ends[:, 0] != ends[:, 1]]
    start, along = plan.corners[ends[:, :1]], plan.corners[ends[:, 1:]] - plan.corners[ends[:, :1]]
    to_place = plan.corners[places] - start  # (walls, places, 2)
    lengths = numpy.linalg.norm(along, axis=2)  # (walls, 1)
    way = (to_place * along).sum(axis=2) / lengths**2  # 0 at the start of a wall, 1 at its end
    aside = numpy.abs(to_place[..., 0] * along[..., 1] - to_place[..., 1] * along[..., 0]) / lengths
    passed = (way > 0) & (way < 1) & (aside <= ON_WALL)
    passed &= ends[:, 1:] != places  # rounding can give its end slightly less than 1
    walls = set()
    for (first, last), ways, passes in zip(ends.tolist(), way, passed, strict=True):
        on_the_way = [int(places[index]) for index in numpy.flatnonzero(passes)[ways[passes].argsort()]]
        steps = [first, *on_the_way, last]
        walls |= {(min(pair), max(pair)) for pair in pairwise(steps)}
    return sorted(walls)


def on_cycles(walls: Walls) -> Walls:
    """Return the walls on a cycle; the others are bridges between parts, or end at a loose corner.

    Each wall outside the spanning tree of a part closes a cycle with the paths from its two ends up the tree
    to their common ancestor.
    """
    parent, depth = spanning_trees(neighbours(walls))
    kept = set()
    for wall in walls:
        a, b = wall
        if parent[a] == b or parent[b] == a:
            continue
        kept.add(wall)
        while a != b:
            if depth[a] < depth[b]:
                a, b = b, a
            kept.add((min(a, parent[a]), max(a, parent[a])))
            a = parent[a]
    return sorted(kept)


def spanning_trees(around: Neighbours) -> tuple[dict[int, int], dict[int, int]]:
    """Return each corner's parent and its distance from the root, in a tree for each connected part.

    A root is its own parent.
    """
    parent: dict[int, int] = {}
    depth = {}
    for root in around:
        if root in parent:
            continue
        parent[root], depth[root] = root, 0
        waiting = deque([root])
        while waiting:
            corner = waiting.popleft()
            for other in around[corner]:
                if other not in parent:
                    parent[other], depth[other] = corner, depth[corner] + 1
                    waiting.append(other)
    return parent, depth


def parts(walls: Walls) -> list[list[int]]:
    """Return the corners of each connected part."""
    found: list[list[int]] = []
    for corner, parent in spanning_trees(neighbours(walls))[0].items():  # by part, from the root
        if parent == corner:
            found.append([])
        found[-1].append(corner)
    return found


def neighbours(walls: Walls) -> Neighbours:
    """Return the corners that each corner is joined to."""
    around: Neighbours = {}
    for a, b in walls:
        around.setdefault(a, []).append(b)
        around.setdefault(b, []).append(a)
    return around


def is_closed(plan: Plan) -> bool:
    """Return whether a plan consists of closed rooms.

    It has a room, its walls are connected, are on cycles and do not cross, and each corner is at a room.
    """
    walls = distinct_walls(plan)
    if len(parts(walls)) != 1 or on_cycles(walls) != walls or walls_cross(walls, plan.corners):
        return False
    at_rooms = {corner for room in find_rooms(plan) for corner in room.corners}
    return {tuple(plan.corners[corner]) for corner in at_rooms} == set(map(tuple, plan.corners))


def walls_cross(walls: Walls, corners: numpy.ndarray) -> bool:
    """Return whether two walls cross between their ends; touching is allowed."""
    start, end = corners[numpy.array(walls)].transpose(1, 0, 2)  # (walls, 2) each

    def sides(points: numpy.ndarray) -> numpy.ndarray:
        """Return the side of each wall (row) on which each point (column) is."""
        (x, y), (px, py) = (end - start).T[..., None], (points - start[:, None]).transpose(2, 0, 1)
        return numpy.sign(x * py - y * px)

    apart = sides(start) * sides(end) < 0
    return bool((apart & apart.T).any())


def straightened(plan: Plan, tolerance: float = 4.0) -> Plan:
    """Return the plan with its nearly straight walls made vertical or horizontal.

    Ends of a wall whose x or y differ by at most `tolerance` pixels get the same coordinate: the mean of all
    corners that are joined in this way.
    """
    corners = plan.corners.copy()
    walls = plan.walls.reshape(-1, 2)
    gaps = numpy.abs(plan.corners[walls[:, 0]] - plan.corners[walls[:, 1]])  # (walls, 2)
    for axis in (0, 1):
        near = (gaps[:, axis] <= tolerance) & (gaps.argmin(axis=1) == axis)
        for group in parts(walls[near].tolist()):
            corners[group, axis] = plan.corners[group, axis].mean()
    return replace(plan, corners=corners)
