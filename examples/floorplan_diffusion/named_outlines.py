"""Rooms among the closed lines of a drawing: those that a layer, a title or a text inside gives a name."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy
from matplotlib.path import Path as Polygon

from examples.floorplan_diffusion.drawn_plans import DrawnPlan, DrawnRoom
from examples.floorplan_diffusion.plan_json import MOST_ROOMS, open_ring
from examples.floorplan_diffusion.room_words import kind_of, unknown
from snippets.errors import UsageError

LARGEST = 1 << 25  # bytes of a drawing


@dataclass(frozen=True)
class ClosedLine:
    """A closed line of a drawing; y grows downwards."""

    corners: numpy.ndarray  # (corners, 2) float64
    names: tuple[str, ...]  # of the line and of what it is in, the nearest first
    curved: bool  # it has an arc or another curve


@dataclass(frozen=True)
class Label:
    """A text of a drawing."""

    place: tuple[float, float]
    text: str


def rooms_of(
    path: Path, unit: str, lines: list[ClosedLine], labels: list[Label], own: dict[str, int]
) -> DrawnPlan:
    """Return the plan of a drawing: its closed lines with a known name. Raises UsageError.

    A line's own name counts before a text inside. A closed line without any known name and without text is
    left out and counted; one with texts, none of which is known, is refused.
    """
    rooms: list[DrawnRoom] = []
    notes: Counter[str] = Counter()
    for line in lines:
        inside = [label.text for label in labels if contains(line, label)]
        kinds = [kind_of(name, own) for name in (*line.names, *inside)]
        known = next((kind for kind in kinds if kind is not None), None)
        if known is None and inside:
            raise UsageError(f"{path}: {unknown(inside[0])}")
        if known is None:
            notes["closed lines without the name of a room"] += 1
        elif line.curved:
            raise UsageError(
                f"{path}: {(*line.names, *inside)[0]:.60}: a side is an arc; draw straight sides"
            )
        else:
            rooms.append(DrawnRoom(known, open_ring(line.corners)))
    if not 1 <= len(rooms) <= MOST_ROOMS:
        seen = ", ".join(sorted({line.names[0] for line in lines if line.names})[:8])
        raise UsageError(
            f"{path}: {len(rooms)} of {len(lines)} closed lines have the name of a room "
            f"(seen: {seen or 'none'}); "
            f"a plan has 1 to {MOST_ROOMS}; --name WORD=KIND gives a name its kind"
        )
    return DrawnPlan(str(path), rooms, unit, notes)


def contains(line: ClosedLine, label: Label) -> bool:
    """Return whether a text begins inside a closed line."""
    return len(line.corners) > 2 and bool(Polygon(line.corners).contains_point(label.place))
