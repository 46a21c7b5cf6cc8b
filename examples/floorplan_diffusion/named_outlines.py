"""Rooms among the closed lines of a drawing: those that a layer, a title or a text inside gives a name."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy
from matplotlib.path import Path as Polygon

from examples.floorplan_diffusion.drawn_plans import DrawnPlan, DrawnRoom, area
from examples.floorplan_diffusion.plan_json import MOST_ROOMS, open_ring
from examples.floorplan_diffusion.room_words import (
    LISTED,
    NO_ROOM,
    SHOWN,
    counted,
    cured,
    is_size,
    kind_of,
    normal,
)
from snippets.errors import UsageError

LARGEST = 1 << 25  # bytes of a drawing
NEAR = 0.02  # of a plan's sides: closed lines this near to its rooms belong to it
FILLED = 0.4  # of a room's area: more is not furniture
FURNITURE = 3  # different names of closed lines in a room: more are not furniture
AROUND, WITHIN, AWAY = "outlines around rooms", "closed lines in rooms", "closed lines beside the plan"


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


@dataclass(frozen=True)
class Outline:
    """A closed line with the kind that its names give it."""

    line: ClosedLine
    kind: int | None
    source: int  # equal for outlines that got their name from the same text
    name: str  # in messages and for --name


def rooms_of(
    path: Path, unit: str, lines: list[ClosedLine], labels: list[Label], own: dict[str, int]
) -> DrawnPlan:
    """Return the plan of a drawing: its closed lines with a known name. Raises UsageError.

    A line's own name counts before a text inside. What encloses two rooms or lies in one is no room. Other
    lines without a known name could be rooms, and `find_names` refuses plans with such.
    """
    texts = [label for label in labels if not is_size(label.text)]
    outlines = [outline_of(number, line, texts, own) for number, line in enumerate(lines)]
    notes = Counter(f"lines of no room: {one.name!r}" for one in outlines if one.kind == NO_ROOM)
    outlines = [one for one in outlines if one.kind != NO_ROOM]
    named = [one for one in outlines if one.kind is not None]
    around = {id(one) for one in outlines if encloses_rooms(one, named or outlines)}
    rooms = [one for one in named if id(one) not in around]
    rooms = [one for one in rooms if not any(same_name(one, other) for other in rooms)]
    unnamed: Counter[str] = Counter()
    full = [room for room in rooms if is_full(room, [one for one in outlines if one.kind is None])]
    for one in outlines:
        place = AROUND if id(one) in around else place_of(one, rooms, full)
        if place:
            notes[f"{place}, which are no rooms: {one.name!r}"] += 1
        elif one.kind is None:
            unnamed[one.name] += 1
    check_rooms(path, rooms, unnamed, notes)
    drawn = [DrawnRoom(one.kind, open_ring(one.line.corners)) for one in rooms if one.kind is not None]
    return DrawnPlan(str(path), drawn, unit, notes, unnamed)


def check_rooms(path: Path, rooms: list[Outline], unnamed: Counter[str], notes: Counter[str]) -> None:
    """Raise UsageError for a plan with an arc, or with too many rooms or none."""
    for one in rooms:
        if one.line.curved:
            raise UsageError(f"{path}: {one.name:.60}: a side is an arc; draw straight sides")
    if len(rooms) > MOST_ROOMS or not (rooms or unnamed):
        raise UsageError(
            f"{path}: {len(rooms)} of {len(rooms) + sum(notes.values())} closed lines have the name of a "
            f"room; a plan has 1 to {MOST_ROOMS}; draw a closed line for each room, with its name inside"
        )


def find_names(plans: Iterable[DrawnPlan]) -> None:
    """Raise UsageError with the names of closed lines that could be rooms and have no kind."""
    without = [plan for plan in plans if plan.unnamed]
    if not without:
        return
    names = sum((plan.unnamed for plan in without), Counter())
    cures = " ".join(f"--name {cured(name)}" for name, _ in names.most_common(SHOWN))
    raise UsageError(
        f"{without[0].where}: closed lines whose name is not known, in {len(without):,} plans: "
        f"{counted(names)}; give each its KIND, none if it is no room: {cures} (kinds: {LISTED})"
    )


def outline_of(number: int, line: ClosedLine, texts: list[Label], own: dict[str, int]) -> Outline:
    """Return a closed line with its kind, from its own names or else from the texts inside."""
    for name in line.names:
        kind = kind_of(name, own)
        if kind is not None:
            return Outline(line, kind, number, normal(name))
    inside = [place for place, label in enumerate(texts) if contains(line, label)]
    for place in inside:
        kind = kind_of(texts[place].text, own)
        if kind is not None:
            return Outline(line, kind, -1 - place, normal(texts[place].text))
    names = [texts[place].text for place in inside] or list(line.names[:1]) or ["line without a name"]
    return Outline(line, None, -1 - inside[0] if inside else number, normal(names[0]))


def encloses_rooms(one: Outline, others: list[Outline]) -> bool:
    """Return whether a closed line has two others with names of their own inside; a layer's name counts."""
    if one.kind is not None and one.source >= 0:
        return False
    return len({other.source for other in others if encloses(one, other)}) > 1


def same_name(one: Outline, other: Outline) -> bool:
    """Return whether an outline, such as a bed, lies in another one that has its name from the same text."""
    return one.source == other.source and encloses(other, one)


def is_full(room: Outline, unnamed: list[Outline]) -> bool:
    """Return whether so much lies in a room that it could be a sheet's frame around rooms."""
    inside = [one for one in unnamed if encloses(room, one)]
    covered = sum(abs(area(one.line.corners)) for one in inside)
    return covered > FILLED * abs(area(room.line.corners)) or len({one.name for one in inside}) > FURNITURE


def place_of(one: Outline, rooms: list[Outline], full: list[Outline]) -> str:
    """Return where a closed line lies that is no room; "" for a room, or for what could be one."""
    if any(one is room for room in rooms) or any(encloses(room, one) for room in full):
        return ""
    if any(encloses(room, one) for room in rooms):
        return WITHIN
    if not rooms:
        return ""
    corners = numpy.concatenate([room.line.corners for room in rooms])
    low, high = corners.min(axis=0), corners.max(axis=0)
    near = NEAR * (high - low)
    own_low, own_high = one.line.corners.min(axis=0), one.line.corners.max(axis=0)
    return "" if (own_low < high + near).all() and (own_high > low - near).all() else AWAY


def encloses(one: Outline, other: Outline) -> bool:
    """Return whether a closed line lies in a larger one; they may touch."""
    inner = other.line.corners
    if one is other or abs(area(inner)) >= abs(area(one.line.corners)):
        return False
    inside = inner + 0.01 * (inner.mean(axis=0) - inner)  # off the sides that both share
    return bool(Polygon(one.line.corners).contains_points(inside).all())


def contains(line: ClosedLine, label: Label) -> bool:
    """Return whether a text begins inside a closed line."""
    return len(line.corners) > 2 and bool(Polygon(line.corners).contains_point(label.place))
