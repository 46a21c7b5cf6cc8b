"""Drawn plans on the canvas of the networks: one scale for all, centred, at whole pixels, on common lines."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import floor

import numpy

from examples.floorplan_diffusion.drawn_plans import DrawnPlan, DrawnRoom
from examples.floorplan_diffusion.plans import CANVAS
from examples.floorplan_diffusion.snapping import common_lines

UNITS = {
    "m": 1.0,
    "cm": 0.01,
    "mm": 0.001,
    "ft": 0.3048,
    "in": 0.0254,
}  # metres; "px" are pixels of the canvas
PIXELS = "px"
FILLED = 232  # pixels of the canvas that the largest plan takes
ON_GRID = 0.01  # pixels: nearer to a whole pixel is on it


@dataclass(frozen=True)
class Scale:
    """The number of pixels for a metre, for all plans of a data set."""

    pixels_per_metre: float

    def factor(self, plan: DrawnPlan) -> float:
        """Return the number of pixels for the unit of a plan."""
        return 1.0 if plan.unit == PIXELS else self.pixels_per_metre * UNITS[plan.unit]


@dataclass
class Moves:
    """How far corners had to move to whole pixels."""

    corners: int = 0
    moved: int = 0
    furthest: float = 0.0  # pixels


def scale_of(plans: Iterable[DrawnPlan]) -> Scale | None:
    """Return the largest scale, in whole pixels, at which every plan fits; None when all are in pixels."""
    sides = [
        UNITS[plan.unit] * float(numpy.ptp(all_corners(plan), axis=0).max())
        for plan in plans
        if plan.unit != PIXELS
    ]
    if not sides:
        return None
    largest = FILLED / max(max(sides), 1e-9)
    return Scale(floor(largest) if largest >= 1 else largest)


def all_corners(plan: DrawnPlan) -> numpy.ndarray:
    """Return the corners of all rooms, (corners, 2)."""
    return numpy.concatenate([room.corners for room in plan.rooms])


def on_canvas(plan: DrawnPlan, scale: Scale | None, snap: float, off: Moves) -> DrawnPlan:
    """Return the plan in whole pixels of the canvas; count in `off` the corners that were not on one.

    A plan in a unit of length is scaled and put in the middle of the canvas. One in pixels stays where it is.
    Lines that are at most `snap` pixels apart become one.
    """
    if plan.unit == PIXELS or scale is None:
        placed = all_corners(plan)
    else:
        placed = all_corners(plan) * scale.factor(plan)
        placed = placed - (placed.min(axis=0) + placed.max(axis=0)) / 2 + CANVAS / 2
    whole = placed.round() if not snap else snapped_lines(placed, snap)
    away = numpy.abs(whole - placed).max(axis=1)
    off.corners += len(away)
    off.moved += int((away > ON_GRID).sum())
    off.furthest = max(off.furthest, float(away.max()))
    parts = numpy.split(whole, numpy.cumsum([len(room.corners) for room in plan.rooms])[:-1])
    rooms = [DrawnRoom(room.kind, simplified(part)) for room, part in zip(plan.rooms, parts, strict=True)]
    return replace(plan, rooms=rooms, unit=PIXELS)


def snapped_lines(places: numpy.ndarray, snap: float) -> numpy.ndarray:
    """Return places (corners, 2) on common lines, at whole pixels."""
    return numpy.stack([common_lines(axis, snap) for axis in places.T], axis=1)


def simplified(corners: numpy.ndarray) -> numpy.ndarray:
    """Return an outline without corners that repeat the one before or have both sides on one line."""
    kept = corners[(corners != numpy.roll(corners, 1, axis=0)).any(axis=1)]
    if len(kept) < 3:
        return kept
    before, after = kept - numpy.roll(kept, 1, axis=0), numpy.roll(kept, -1, axis=0) - kept
    turns = before[:, 0] * after[:, 1] - before[:, 1] * after[:, 0]
    return kept[turns != 0]
