"""Draw floor plans as pictures: rooms filled by kind, walls, names; and corners during the diffusion.

gallery(plans, columns=3).svg()                             text of an SVG file
gallery([plan], 1, titles=["held out"], dark=True).png()    bytes of a PNG file
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil

import numpy

from examples.floorplan_diffusion.picture import Area, Picture, Shape, Slice, Strokes, Text, text_width
from examples.floorplan_diffusion.plans import CANVAS, KINDS, Plan
from examples.floorplan_diffusion.room_names import place_for_name
from examples.floorplan_diffusion.rooms import find_rooms

# On phones a picture is 328 pixels wide: a width of 380 then has letters of 12 pixels.
WIDTH, FONT = 380, 14
GAP = 12  # between plans, pixels
LINE = 22  # height of a line of text, pixels
SWATCH = 14  # side of a square of the legend, pixels
WALL, CORNER = 7, 10  # thickness of walls and side of the squares at corners, on the canvas
DOT = 9  # radius of a corner that is drawn alone, on the canvas
PADDING_DOT = 5  # radius of a padding corner
MARGIN = 10  # around plans, on the canvas, so that squares and dots at the edge are not cut
LEAST_WIDTH = 200  # of the drawn part of the canvas, so that walls do not become too thick
ROOM = 4  # pixels between a name and the walls on both sides together


@dataclass(frozen=True)
class Colours:
    """The colours of a picture, distinguishable with red-green colour blindness."""

    kinds: tuple[str, ...]  # by kind; the last one is of corners at the outside
    ink: str  # names in rooms
    text: str  # titles and legend
    wall: str
    corner: str
    faint: str  # padding corners, and the frame of a canvas


LIGHT = Colours(
    ("#fade8b", "#98c4f9", "#c4c6c7", "#f6aa8a", "#97e9fb", "#c4eec9", "#6d7787"),
    ink="#1a1a1a",
    text="#4c5b62",
    wall="#5c6470",
    corner="#353d47",
    faint="#c9d0d4",
)
DARK = Colours(
    ("#806700", "#3d5aa4", "#52595f", "#8f3814", "#087d86", "#537251", "#98a2b0"),
    ink="#ffffff",
    text="#a9b8be",
    wall="#c9d0d8",
    corner="#ffffff",
    faint="#4a565d",
)


@dataclass(frozen=True)
class Words:
    """The texts of a picture in one language."""

    kinds: tuple[str, ...] = tuple(kind.capitalize() for kind in KINDS)
    # Where a name is too long for its room:
    short: tuple[str, ...] = ("Living", "Bed", "Store", "Kitchen", "Bath", "Balc.")
    padding: str = "Not a corner"
    # The alternative text: the title, and descriptions of plans and of corners.
    title: str = "Floor plans"
    plans: str = "Rooms filled by kind, walls between corners."
    corners: str = "Corners as dots in the colours of the rooms that they touch."


ENGLISH = Words()


@dataclass(frozen=True)
class Corners:
    """Corners without walls: a step on the way from noise to a plan."""

    places: numpy.ndarray  # (corners, 2) float, pixels; corners outside the canvas are not drawn
    kinds: numpy.ndarray  # (corners, 7) bool
    real: numpy.ndarray  # (corners,) bool; the others are padding and are drawn faintly


@dataclass(frozen=True)
class Entry:
    """A name of the legend beside a square in its colour."""

    name: str
    colour: str
    side: float = SWATCH


@dataclass(frozen=True)
class Window:
    """The drawn part of the canvas of every plan, and its position in the picture."""

    low: numpy.ndarray  # (2,): its upper left corner on the canvas
    left: float  # and in the picture
    top: float
    scale: float

    def at(self, points: numpy.ndarray) -> numpy.ndarray:
        """Return the coordinates of points of a plan in the picture."""
        return (points - self.low) * self.scale + (self.left, self.top)


def gallery(
    drawn: Iterable[Plan | Corners],
    columns: int = 2,
    *,
    titles: Sequence[str] | None = None,
    width: float = WIDTH,
    words: Words = ENGLISH,
    dark: bool = False,
) -> Picture:
    """Return a picture of plans, or corners without walls, in rows of `columns`, with a legend of the kinds.

    `titles` are printed above, one for each. `width` is in pixels, with letters of 14 pixels.
    """
    colours = DARK if dark else LIGHT
    drawn = list(drawn)
    side = (width - GAP * (columns - 1)) / columns
    windows, height = in_rows(drawn, columns, side, titled=bool(titles))
    shapes: list[Shape] = []
    for one, window in zip(drawn, windows, strict=True):
        if isinstance(one, Plan):
            shapes += plan_shapes(one, window, words, colours)
        else:
            shapes += corner_shapes(one, window, words, colours)
    for title, window in zip(titles or [], windows if titles else [], strict=True):
        shapes.append(Text(window.left + side / 2, window.top - LINE / 2, title, colours.text, FONT))
    entries, height = legend_shapes(legend_of(drawn, words, colours), width, height, colours)
    seen = {isinstance(one, Plan) for one in drawn}
    description = " ".join([words.plans] * (True in seen) + [words.corners] * (False in seen))
    return Picture(width, ceil(height), words.title, description, shapes + entries)


def plan_shapes(plan: Plan, window: Window, words: Words, colours: Colours) -> list[Shape]:
    """Return the shapes of one plan."""
    places = window.at(plan.corners)
    walls = places[plan.walls.reshape(-1, 2)]
    rooms = find_rooms(plan)
    outlines = [places[list(room.corners)] for room in rooms]
    shapes: list[Shape] = [
        Area(outline, colours.kinds[room.kind], words.kinds[room.kind])
        for room, outline in zip(rooms, outlines, strict=True)
    ]
    shapes += [
        Strokes(walls, colours.wall, window.scale * WALL),
        Strokes(squares(places, window.scale * CORNER), colours.corner, window.scale * CORNER),
    ]
    for room, outline in zip(rooms, outlines, strict=True):
        for name in (words.kinds[room.kind], words.short[room.kind]):
            around = window.scale * WALL + ROOM
            size = (text_width(name, FONT) + around, 0.9 * FONT + around)
            place = place_for_name(outline, walls, size)
            if place is not None:
                shapes.append(Text(*place, name, colours.ink, FONT))
                break
    return shapes


def corner_shapes(step: Corners, window: Window, words: Words, colours: Colours) -> list[Shape]:
    """Return the shapes of the corners of one step: a frame, padding, and real corners above.

    A corner that touches several kinds of rooms is drawn as a pie with a slice for each.
    """
    box = window.at(numpy.array([(0, 0), (CANVAS, 0), (CANVAS, CANVAS), (0, CANVAS)], dtype=float))
    shapes: list[Shape] = [Strokes(numpy.stack([box, numpy.roll(box, -1, axis=0)], axis=1), colours.faint, 1)]
    seen = ((step.places >= 0) & (step.places <= CANVAS)).all(axis=1)
    places, radius = window.at(step.places).tolist(), window.scale * DOT
    for index in numpy.flatnonzero(seen & ~step.real):
        x, y = places[index]
        shapes.append(Slice(x, y, window.scale * PADDING_DOT, colours.faint))
    for index in numpy.flatnonzero(seen & step.real):
        x, y = places[index]
        shapes.append(Slice(x, y, radius + 1, colours.corner))
        kinds = numpy.flatnonzero(step.kinds[index]).tolist()
        if not kinds:
            shapes.append(Slice(x, y, radius, colours.faint))
        for part, kind in enumerate(kinds):
            turns = part / len(kinds), (part + 1) / len(kinds)
            shapes.append(Slice(x, y, radius, colours.kinds[kind], *turns))
    return shapes


def squares(places: numpy.ndarray, side: float) -> numpy.ndarray:
    """Return squares around places, as strokes of equal length and width."""
    to_the_right = numpy.array([side / 2, 0])
    return numpy.stack([places - to_the_right, places + to_the_right], axis=1)


def in_rows(
    drawn: list[Plan | Corners], columns: int, side: float, titled: bool
) -> tuple[list[Window], float]:
    """Return a window `side` pixels wide for each of `drawn`, and the y of the end of the last row.

    All show the same part of the canvas: the bounding box of all plans, or all of it for corners alone.
    """
    needed = [one.corners if isinstance(one, Plan) else CANVAS * numpy.eye(2) for one in drawn]
    points = numpy.concatenate([numpy.full((1, 2), CANVAS / 2), *needed])
    low, high = points.min(axis=0) - MARGIN, points.max(axis=0) + MARGIN
    narrow = max(0.0, LEAST_WIDTH - (high - low)[0]) / 2
    low[0], high[0] = low[0] - narrow, high[0] + narrow
    scale = side / (high - low)[0]
    top = LINE if titled else 0
    height = top + scale * (high - low)[1] + GAP
    places = [divmod(index, columns) for index in range(len(drawn))]
    windows = [Window(low, column * (side + GAP), row * height + top, scale) for row, column in places]
    return windows, height * -(-len(drawn) // columns)


def legend_of(drawn: list[Plan | Corners], words: Words, colours: Colours) -> list[Entry]:
    """Return an entry for each kind that occurs, and one for padding corners."""
    kinds, padding = set(), False
    for one in drawn:
        if isinstance(one, Plan):
            kinds |= {room.kind for room in find_rooms(one)}
        else:
            kinds |= set(numpy.flatnonzero(one.kinds[one.real].any(axis=0)).tolist())
            padding |= not one.real.all()
    entries = [Entry(words.kinds[kind], colours.kinds[kind]) for kind in sorted(kinds)]
    return entries + [Entry(words.padding, colours.faint, SWATCH * PADDING_DOT / DOT)] * padding


def legend_shapes(
    legend: list[Entry], width: float, top: float, colours: Colours
) -> tuple[list[Shape], float]:
    """Return a square and a name for each entry, in centred lines, and the y of their end."""
    lines: list[list[Entry]] = [[]]
    for entry in legend:
        if lines[-1] and line_width([*lines[-1], entry]) > width:
            lines.append([])
        lines[-1].append(entry)
    shapes: list[Shape] = []
    for row, line in enumerate(lines):
        x, y = (width - line_width(line)) / 2, top + LINE * (row + 0.5)
        for entry in line:
            middle = numpy.array([[x + SWATCH / 2, y]])
            shapes.append(Strokes(squares(middle, entry.side), entry.colour, entry.side))
            shapes.append(Text(x + SWATCH + 6, y, entry.name, colours.text, FONT, centred=False))
            x += line_width([entry]) + GAP
    return shapes, top + LINE * len(lines) if legend else top


def line_width(line: list[Entry]) -> float:
    """Return the width in pixels of entries of the legend beside each other."""
    return sum(SWATCH + 6 + text_width(entry.name, FONT) for entry in line) + GAP * (len(line) - 1)
