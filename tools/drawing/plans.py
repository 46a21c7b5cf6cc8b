"""Floor plans: rooms filled by kind, walls and names; and corners alone, on their way to a plan.

The plans are stored with their rooms (tools/measuring/floorplan_samples.py). Kinds are numbers; the last one
is what a corner at the outside touches.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Any

import numpy
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from matplotlib.transforms import Bbox

from tools.drawing.page import FONT, ROOMS, WIDTH, Part, canvas, resize, text_width

KINDS = ("Living room", "Bedroom", "Storage", "Kitchen", "Bathroom", "Balcony", "Outside")
SHORT = ("Living", "Bed", "Store", "Kitchen", "Bath", "Balc.")  # where a name is too long for its room
CANVAS = 256  # pixels along each side of a plan
GAP = 12  # between plans, pixels of the picture
LINE = 22  # height of a line of text
SWATCH = 14  # side of a square of the legend
WALL, CORNER, DOT, PADDING_DOT = 7, 10, 9, 5  # thickness, side, and radii on the canvas
MARGIN = 10  # around plans, on the canvas: squares and dots at the edge are drawn as a whole
LEAST_WIDTH = 200  # of the canvas that is drawn: walls must not become too thick
AROUND = 4  # pixels between a name and the walls beside it, in all
TRIED = 13  # places for a name along each side of a room

Drawn = Mapping[str, Any]  # a plan, which has walls, or a moment on the way to one


def fill(axes: Axes, paths: Iterable[Path], colour: str) -> None:
    """Fill paths, all of them as one."""
    together = Path.make_compound_path(*paths)
    if len(together.vertices):
        axes.add_patch(PathPatch(together, facecolor=colour, edgecolor="none", clip_on=False))


def stroke(axes: Axes, lines: Iterable[numpy.ndarray], colour: str, width: float) -> None:
    """Draw lines through points, (points, 2) each."""
    together = Path.make_compound_path(*map(Path, lines))
    style = {"edgecolor": colour, "linewidth": width, "capstyle": "butt", "clip_on": False}
    axes.add_patch(PathPatch(together, fill=False, **style))


def square(x: float, y: float, side: float) -> Path:
    """Return a square around a place."""
    return Path(numpy.array([(-1, -1), (1, -1), (1, 1), (-1, 1), (-1, -1)]) * side / 2 + (x, y), closed=True)


def slice_of(place: numpy.ndarray, radius: float, number: int = 0, count: int = 1) -> Path:
    """Return one of `count` slices of a pie, clockwise from above, as so small a circle may be: a polygon."""
    turns = 2 * numpy.pi * numpy.linspace(number, number + 1, 1 + 12 // count) / count
    rim = numpy.stack([numpy.sin(turns), -numpy.cos(turns)], axis=1)
    middle = numpy.zeros((int(count > 1), 2))
    return Path(numpy.concatenate([rim, middle, rim[:1]]) * radius + place, closed=True)


def window(drawn: Iterable[Drawn]) -> tuple[numpy.ndarray, numpy.ndarray]:
    """Return the corners of the part of the canvas that is drawn: what plans need; of moments, all."""
    needed = [one["corners"] if "walls" in one else [(0, 0), (CANVAS, CANVAS)] for one in drawn]
    points = numpy.array([(CANVAS / 2, CANVAS / 2), *chain.from_iterable(needed)])
    low, high = points.min(axis=0) - MARGIN, points.max(axis=0) + MARGIN
    narrow = max(0.0, LEAST_WIDTH - (high - low)[0]) / 2
    aside = numpy.array([narrow, 0])
    return low - aside, high + aside


def place_for(name: str, room: Path, walls: list[Path], thick: float) -> numpy.ndarray | None:
    """Return the middle of all places where a name fits into a room and touches no wall, or None."""
    half = numpy.array([text_width(name, FONT) + thick + AROUND, 0.9 * FONT + thick + AROUND]) / 2
    low, high = room.vertices.min(axis=0), room.vertices.max(axis=0)
    if (high - low < 2 * half).any():
        return None
    sides = [numpy.linspace(*ends, TRIED) for ends in zip(low + half, high - half, strict=True)]
    places = numpy.stack(numpy.meshgrid(*sides), axis=-1).reshape(-1, 2)
    places = places[room.contains_points(places)]
    free = [
        place
        for place in places
        if not any(wall.intersects_bbox(Bbox([place - half, place + half]), False) for wall in walls)
    ]
    if not free:
        return None
    middle = numpy.mean(free, axis=0)
    return min(free, key=lambda place: float(numpy.linalg.norm(place - middle)))


def draw_plan(axes: Axes, plan: Drawn, places: numpy.ndarray, scale: float, part: Part) -> None:
    """Draw rooms, walls, corners and the names that fit; `places` are those of the corners."""
    colours, fills = part.colours, ROOMS[part.scheme]
    rooms = [
        (Path(places[[*room["corners"], room["corners"][0]]], closed=True), room["kind"])
        for room in plan["rooms"]
    ]
    for outline, kind in rooms:
        fill(axes, [outline], fills[kind])
    walls = [places[list(wall)] for wall in plan["walls"]]
    stroke(axes, walls, colours["wall"], scale * WALL)
    fill(axes, [square(x, y, scale * CORNER) for x, y in places], colours["corner"])
    for outline, kind in rooms:
        for name in (part.say(KINDS[kind]), part.say(SHORT[kind])):
            place = place_for(name, outline, [Path(wall) for wall in walls], scale * WALL)
            if place is not None:
                x, y = place
                axes.text(x, y + 0.35 * FONT, name, ha="center", color=colours["room_ink"])
                break


def kinds_of(bits: str) -> list[int]:
    """Return which kinds of rooms a corner touches."""
    return [kind for kind, bit in enumerate(bits) if bit == "1"]


def draw_moment(
    axes: Axes, moment: Drawn, frame: numpy.ndarray, places: numpy.ndarray, scale: float, part: Part
) -> None:
    """Draw a frame and corners: a pie with a slice for each kind of rooms that a corner touches."""
    colours = part.colours
    stroke(axes, [frame], colours["faint"], 1)
    seen = [at for at, place in enumerate(moment["places"]) if min(place) >= 0 and max(place) <= CANVAS]
    real = [at for at in seen if moment["real"][at] == "1"]
    fill(axes, [slice_of(places[at], scale * PADDING_DOT) for at in seen if at not in real], colours["faint"])
    for at in real:
        kinds = kinds_of(moment["kinds"][at])
        fill(axes, [slice_of(places[at], scale * DOT + 1)], colours["corner"])
        for number, kind in enumerate(kinds):
            fill(axes, [slice_of(places[at], scale * DOT, number, len(kinds))], ROOMS[part.scheme][kind])
        if not kinds:
            fill(axes, [slice_of(places[at], scale * DOT)], colours["faint"])


def legend(axes: Axes, drawn: Iterable[Drawn], left: float, top: float, width: float, part: Part) -> float:
    """Draw a square and a name for each kind that occurs, in centred lines; return where they end."""
    kinds, padding = set(), False
    for one in drawn:
        if "walls" in one:
            kinds |= {room["kind"] for room in one["rooms"]}
            continue
        real = [bits for bits, is_real in zip(one["kinds"], one["real"], strict=True) if is_real == "1"]
        kinds |= {kind for bits in real for kind in kinds_of(bits)}
        padding |= len(real) < len(one["real"])
    entries = [(part.say(KINDS[kind]), ROOMS[part.scheme][kind], 1.0) for kind in sorted(kinds)]
    entries += [(part.say("Not a corner"), part.colours["faint"], PADDING_DOT / DOT)] * padding
    lines: list[list[tuple[str, str, float]]] = [[]]
    wide = {name: SWATCH + 6 + text_width(name, FONT) + GAP for name, _, _ in entries}
    for entry in entries:
        if lines[-1] and sum(wide[name] for name, _, _ in [*lines[-1], entry]) - GAP > width:
            lines.append([])
        lines[-1].append(entry)
    for row, line in enumerate(lines):
        x, y = left + (width - sum(wide[name] for name, _, _ in line) + GAP) / 2, top + LINE * (row + 0.5)
        for name, colour, part_of in line:
            fill(axes, [square(x + SWATCH / 2, y, SWATCH * part_of)], colour)
            axes.text(x + SWATCH + 6, y + 0.35 * FONT, name)
            x += wide[name]
    return top + LINE * len(lines)


def as_corners(plan: Drawn) -> Drawn:
    """Return the corners of a plan alone, as the last moment of a way."""
    return {"places": plan["corners"], "kinds": plan["kinds"], "real": "1" * len(plan["corners"])}


def chosen(part: Part) -> tuple[list[Drawn], list[str]]:
    """Return what a specification shows, and the titles."""
    data, drawn, titles = part.data(), list[Drawn](), list[str]()
    for entry in part.spec["show"]:
        found = data[entry["of"]][entry.get("from", 0) : entry.get("to")]
        drawn += map(as_corners, found) if entry.get("corners") else found
        title = part.say(entry["title"]) if "title" in entry else ""
        titles += [title.format(one.get("to_go", 0)) for one in found]
    if part.spec.get("in_turns"):
        half = len(drawn) // 2
        order = sorted(range(len(drawn)), key=lambda at: at % half)
        drawn, titles = [drawn[at] for at in order], [titles[at] for at in order]
    return drawn, titles


def draw_gallery(axes: Axes, part: Part, left: float, top: float, width: float) -> float:
    """Draw plans and moments in rows, all at one scale, and a legend; return where that ends."""
    drawn, titles = chosen(part)
    columns = part.spec["columns"]
    side = (width - GAP * (columns - 1)) / columns
    low, high = window(drawn)
    scale = side / (high - low)[0]
    above = LINE if any(titles) else 0
    height = above + scale * (high - low)[1] + GAP
    corners = numpy.array([(0, 0), (CANVAS, 0), (CANVAS, CANVAS), (0, CANVAS), (0, 0)])
    for index, (one, title) in enumerate(zip(drawn, titles, strict=True)):
        row, column = divmod(index, columns)
        corner = numpy.array([left + column * (side + GAP), top + row * height + above])
        if title:
            axes.text(corner[0] + side / 2, corner[1] - LINE / 2 + 0.35 * FONT, title, ha="center")
        own = numpy.array(one["corners" if "walls" in one else "places"], dtype=float)
        places = (own - low) * scale + corner
        if "walls" in one:
            draw_plan(axes, one, places, scale, part)
        else:
            draw_moment(axes, one, (corners - low) * scale + corner, places, scale, part)
    return legend(axes, drawn, left, top + height * -(-len(drawn) // columns), width, part)


def draw(figure: Figure, part: Part) -> None:
    """Draw a gallery as a picture, as high as it becomes."""
    axes = canvas(figure)
    resize(figure, axes, WIDTH, draw_gallery(axes, part, 0, 0, WIDTH))
