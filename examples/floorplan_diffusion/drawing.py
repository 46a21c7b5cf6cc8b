"""Floor plans as pictures: rooms filled by kind, walls, names; and corners alone, on their way to a plan.

gallery(plans, columns=3).svg()      text of an SVG file
gallery([plan], titles=["held out"], dark=True).png()      bytes of a PNG file
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy

from examples.floorplan_diffusion.picture import Area, Picture, Shape, Slice, Strokes, Text, text_width
from examples.floorplan_diffusion.plans import CANVAS, OUTSIDE, Plan
from examples.floorplan_diffusion.room_names import place_for_name
from examples.floorplan_diffusion.rooms import find_rooms

# Phones leave a picture 328 pixels: they show 380 wide with letters of 12 pixels.
WIDTH, FONT = 380, 14
GAP = 12  # between plans, pixels
LINE = 22  # height of a line of text, pixels
SWATCH = 14  # side of a square of the legend, pixels
WALL, CORNER = 7, 10  # thickness of walls and side of the squares at corners, on the canvas
DOT = 9  # radius of a corner that is drawn alone, on the canvas
PADDING_DOT = 5  # radius of what is no corner
MARGIN = 10  # around the canvas, on the same scale: squares and dots at its edge are drawn as a whole
ROOM = 4  # pixels between a name and the walls beside it, in all


@dataclass(frozen=True)
class Colours:
    """The colours of a picture. Eyes that see red and green alike tell the kinds apart, too."""

    kinds: tuple[str, ...]  # by kind; the last is what a corner at the outside shows
    ink: str  # names in rooms
    text: str  # titles and legend
    wall: str
    corner: str
    faint: str  # what is no corner, and the frame of a canvas


LIGHT = Colours(
    ("#fade8b", "#98c4f9", "#c4c6c7", "#f6aa8a", "#97e9fb", "#c4eec9", "#6d7787"),
    ink="#1a1a1a",
    text="#4c5b62",
    wall="#6b7480",
    corner="#3f4853",
    faint="#c9d0d4",
)
DARK = Colours(
    ("#806700", "#3d5aa4", "#52595f", "#8f3814", "#087d86", "#537251", "#98a2b0"),
    ink="#ffffff",
    text="#a9b8be",
    wall="#b4bcc6",
    corner="#eef1f4",
    faint="#4a565d",
)


@dataclass(frozen=True)
class Words:
    """What a picture says; pass others for another language."""

    kinds: tuple[str, ...] = (
        "Living room",
        "Bedroom",
        "Storage",
        "Kitchen",
        "Bathroom",
        "Balcony",
        "Outside",
    )
    short: tuple[str, ...] = (
        "Living",
        "Bed",
        "Store",
        "Kitchen",
        "Bath",
        "Balc.",
    )  # where the name is too long
    padding: str = "Not a corner"
    title: str = "Floor plans"
    description: str = "Rooms filled by kind, walls between corners."
    corners_title: str = "Corners of floor plans"
    corners_description: str = "Corners as dots, with the colours of the kinds of rooms that they touch."


ENGLISH = Words()


@dataclass(frozen=True)
class Corners:
    """Corners without walls: a step on the way from noise to a plan."""

    places: numpy.ndarray  # (corners, 2) float, pixels; those beyond the canvas are not drawn
    kinds: numpy.ndarray  # (corners, 7) bool
    real: numpy.ndarray  # (corners,) bool; the others fill the array up and are drawn faintly


@dataclass(frozen=True)
class Entry:
    """A name of the legend beside a square in its colour."""

    name: str
    colour: str
    side: float = SWATCH


@dataclass(frozen=True)
class Canvas:
    """Where a plan's canvas and the margin around it lie in the picture."""

    left: float
    top: float
    side: float

    def at(self, points: numpy.ndarray) -> numpy.ndarray:
        """Return where points of a plan lie in the picture."""
        return (points + MARGIN) * self.long(1) + (self.left, self.top)

    def long(self, pixels: float) -> float:
        """Return how long a length on a plan is in the picture."""
        return pixels * self.side / (CANVAS + 2 * MARGIN)


# --8<-- [start:gallery]
def gallery(
    plans: Sequence[Plan],
    columns: int = 2,
    *,
    titles: Sequence[str] | None = None,
    width: float = WIDTH,
    words: Words = ENGLISH,
    dark: bool = False,
) -> Picture:
    """Return plans in rows of `columns`, each below its title, and a legend of the kinds that occur.

    `width` is the picture's, in pixels with letters 14 pixels high; it may be as high as is needed.
    """
    colours = DARK if dark else LIGHT
    kinds = sorted({room.kind for plan in plans for room in find_rooms(plan)})
    legend = [Entry(words.kinds[kind], colours.kinds[kind]) for kind in kinds]
    draws = [lambda canvas, plan=plan: plan_shapes(plan, canvas, words, colours) for plan in plans]
    shapes, height = grid(draws, columns, titles, width, colours, legend)
    return Picture(width, height, words.title, words.description, shapes)


def plan_shapes(plan: Plan, canvas: Canvas, words: Words, colours: Colours) -> list[Shape]:
    """Return what draws one plan."""
    places = canvas.at(plan.corners)
    walls = places[plan.walls.reshape(-1, 2)]
    rooms = find_rooms(plan)
    outlines = [places[list(room.corners)] for room in rooms]
    shapes: list[Shape] = [
        Area(outline, colours.kinds[room.kind], words.kinds[room.kind])
        for room, outline in zip(rooms, outlines, strict=True)
    ]
    shapes += [
        Strokes(walls, colours.wall, canvas.long(WALL)),
        Strokes(squares(places, canvas.long(CORNER)), colours.corner, canvas.long(CORNER)),
    ]
    for room, outline in zip(rooms, outlines, strict=True):
        for name in (words.kinds[room.kind], words.short[room.kind]):
            around = canvas.long(WALL) + ROOM
            size = (text_width(name, FONT) + around, 0.9 * FONT + around)
            place = place_for_name(outline, walls, size)
            if place is not None:
                shapes.append(Text(*place, name, colours.ink, FONT))
                break
    return shapes


# --8<-- [end:gallery]
def draw_corners(
    steps: Sequence[Corners],
    columns: int = 2,
    *,
    titles: Sequence[str] | None = None,
    width: float = WIDTH,
    words: Words = ENGLISH,
    dark: bool = False,
) -> Picture:
    """Return corners in rows of `columns`, each below its title, and a legend of the kinds that occur.

    A corner that touches several kinds of rooms is a pie with a slice for each.
    """
    colours = DARK if dark else LIGHT
    kinds = [kind for kind in range(OUTSIDE + 1) if any(step.kinds[step.real, kind].any() for step in steps)]
    legend = [Entry(words.kinds[kind], colours.kinds[kind]) for kind in kinds]
    if any(not step.real.all() for step in steps):
        legend.append(Entry(words.padding, colours.faint, SWATCH * PADDING_DOT / DOT))
    draws = [lambda canvas, step=step: corner_shapes(step, canvas, colours) for step in steps]
    shapes, height = grid(draws, columns, titles, width, colours, legend)
    return Picture(width, height, words.corners_title, words.corners_description, shapes)


def corner_shapes(step: Corners, canvas: Canvas, colours: Colours) -> list[Shape]:
    """Return what draws the corners of one step: a frame, padding, and real corners above."""
    box = canvas.at(numpy.array([(0, 0), (CANVAS, 0), (CANVAS, CANVAS), (0, CANVAS)], dtype=float))
    shapes: list[Shape] = [Strokes(numpy.stack([box, numpy.roll(box, -1, axis=0)], axis=1), colours.faint, 1)]
    seen = ((step.places >= 0) & (step.places <= CANVAS)).all(axis=1)
    places, radius = canvas.at(step.places).tolist(), canvas.long(DOT)
    for index in numpy.flatnonzero(seen & ~step.real):
        shapes.append(Slice(*places[index], canvas.long(PADDING_DOT), colours.faint))
    for index in numpy.flatnonzero(seen & step.real):
        shapes.append(Slice(*places[index], radius + 1, colours.corner))
        kinds = numpy.flatnonzero(step.kinds[index]).tolist()
        if not kinds:
            shapes.append(Slice(*places[index], radius, colours.faint))
        for part, kind in enumerate(kinds):
            turns = part / len(kinds), (part + 1) / len(kinds)
            shapes.append(Slice(*places[index], radius, colours.kinds[kind], *turns))
    return shapes


def squares(places: numpy.ndarray, side: float) -> numpy.ndarray:
    """Return squares around places: a stroke as long as it is wide."""
    to_the_right = numpy.array([side / 2, 0])
    return numpy.stack([places - to_the_right, places + to_the_right], axis=1)


def grid(
    draws: Sequence[Callable[[Canvas], list[Shape]]],
    columns: int,
    titles: Sequence[str] | None,
    width: float,
    colours: Colours,
    legend: list[Entry],
) -> tuple[list[Shape], float]:
    """Return the shapes of a picture and its height: canvases in rows with titles above, the legend below."""
    side = (width - GAP * (columns - 1)) / columns
    top = LINE if titles else 0
    shapes: list[Shape] = []
    for index, draw in enumerate(draws):
        row, column = divmod(index, columns)
        canvas = Canvas(column * (side + GAP), row * (side + GAP + top) + top, side)
        shapes += draw(canvas)
        if titles:
            shapes.append(
                Text(canvas.left + side / 2, canvas.top - LINE / 2, titles[index], colours.text, FONT)
            )
    rows = -(-len(draws) // columns)
    entries, height = legend_shapes(legend, width, rows * (side + GAP + top), colours)
    return shapes + entries, height


def legend_shapes(
    legend: list[Entry], width: float, top: float, colours: Colours
) -> tuple[list[Shape], float]:
    """Return a square and a name for each entry, in centred lines, and where they end."""
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
    """Return how wide some entries of the legend are beside each other."""
    return sum(SWATCH + 6 + text_width(entry.name, FONT) for entry in line) + GAP * (len(line) - 1)
