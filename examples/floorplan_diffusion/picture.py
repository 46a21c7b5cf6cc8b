"""Pictures of filled areas, strokes and texts, as SVG, or as PNG drawn by matplotlib."""

import io
import unicodedata
from dataclasses import dataclass, field
from html import escape

import numpy
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.patches import Polygon, Wedge

FAMILY = "system-ui, -apple-system, sans-serif"
POINTS = 72 / 100  # points per pixel: matplotlib draws at 100 pixels per inch


@dataclass(frozen=True)
class Area:
    """A filled polygon."""

    points: numpy.ndarray  # (points, 2), as all coordinates in pixels; y grows downwards
    colour: str
    name: str = ""  # the tooltip in SVG


@dataclass(frozen=True)
class Strokes:
    """Lines of one style, with butt ends."""

    lines: numpy.ndarray  # (lines, 2, 2)
    colour: str
    width: float


@dataclass(frozen=True)
class Text:
    """One line of text; `y` is its middle."""

    x: float
    y: float
    text: str
    colour: str
    size: float
    centred: bool = True  # otherwise it begins at x


@dataclass(frozen=True)
class Slice:
    """A slice of a pie between two parts of a full turn, clockwise from the top; from 0 to 1: all of it."""

    x: float
    y: float
    radius: float
    colour: str
    start: float = 0.0
    end: float = 1.0


Shape = Area | Strokes | Text | Slice


@dataclass(frozen=True)
class Picture:
    """Shapes, drawn in their order. The same picture gives the same bytes."""

    width: float
    height: float
    title: str  # the alternative text, with a longer description
    description: str
    shapes: list[Shape] = field(default_factory=list)

    def svg(self, shown: float | None = None, background: str | None = None) -> str:
        """Return the picture as the text of an SVG file, at most `shown` pixels wide.

        Without a background it is transparent.
        """
        shown = shown or self.width
        size = f'width="{number(shown)}" height="{number(shown * self.height / self.width)}"'
        box = f"0 0 {number(self.width)} {number(self.height)}"
        lines = [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="{box}" role="img" '
            f'aria-label="{escape(self.title)}" font-family="{FAMILY}">',
            f"<title>{escape(self.title)}</title>",
            f"<desc>{escape(self.description)}</desc>",
        ]
        if background:
            lines.append(f'<rect width="100%" height="100%" fill="{background}"/>')
        return "\n".join([*lines, *map(svg_element, self.shapes), "</svg>", ""])

    def png(self, scale: float = 2.0, background: str | None = None) -> bytes:
        """Return the picture as the bytes of a PNG file, with `scale` times the size in pixels."""
        with rc_context({"font.family": "DejaVu Sans", "path.simplify": False}):
            figure = Figure(figsize=(self.width / 100, self.height / 100), dpi=100 * scale)
            FigureCanvasAgg(figure)
            axes = figure.add_axes((0, 0, 1, 1), xlim=(0, self.width), ylim=(self.height, 0))
            axes.set_axis_off()
            for order, shape in enumerate(self.shapes):
                add_to_axes(axes, shape, order)
            file = io.BytesIO()
            figure.savefig(file, format="png", facecolor=background or "none", metadata={"Software": None})
        return file.getvalue()


def text_width(text: str, size: float) -> float:
    """Return the approximate width of a text in pixels: Chinese characters are square, others narrower."""
    return size * sum(letter_width(letter) for letter in text)


def letter_width(letter: str) -> float:
    """Return the approximate width of a letter in line heights, as in DejaVu Sans, which is a wide font."""
    if unicodedata.east_asian_width(letter) in "WF":
        return 1.0
    return 0.4 if letter in " ijlrtf.,'" else 1.0 if letter in "mwMW" else 0.64


def svg_element(shape: Shape) -> str:
    """Return the SVG element of a shape."""
    if isinstance(shape, Text):
        anchor = ' text-anchor="middle"' if shape.centred else ""
        baseline = shape.y + 0.35 * shape.size  # half of a capital letter
        place = f'x="{number(shape.x)}" y="{number(baseline)}" font-size="{number(shape.size)}"'
        return f'<text {place} fill="{shape.colour}"{anchor}>{escape(shape.text)}</text>'
    if isinstance(shape, Strokes):
        path = "".join("M{} {}L{} {}".format(*map(number, line.reshape(4))) for line in shape.lines)
        style = f'stroke="{shape.colour}" stroke-width="{number(shape.width)}"'
        return f'<path d="{path}" fill="none" {style}/>'
    if isinstance(shape, Slice):
        return f'{svg_slice(shape)} fill="{shape.colour}"/>'
    points = " ".join(f"{number(x)},{number(y)}" for x, y in shape.points)
    named = f"><title>{escape(shape.name)}</title></polygon>" if shape.name else "/>"
    return f'<polygon points="{points}" fill="{shape.colour}"{named}'


def svg_slice(shape: Slice) -> str:
    """Return the start of the SVG element of a pie slice, with its outline."""
    middle, radius = (number(shape.x), number(shape.y)), number(shape.radius)
    if shape.end - shape.start >= 1:
        return f'<circle cx="{middle[0]}" cy="{middle[1]}" r="{radius}"'
    turns = 2 * numpy.pi * numpy.array([shape.start, shape.end])
    ends = zip(
        shape.x + shape.radius * numpy.sin(turns), shape.y - shape.radius * numpy.cos(turns), strict=True
    )
    first, last = (" ".join(map(number, end)) for end in ends)
    large = int(shape.end - shape.start > 0.5)
    return f'<path d="M{" ".join(middle)}L{first}A{radius} {radius} 0 {large} 1 {last}Z"'


def add_to_axes(axes: Axes, shape: Shape, order: int) -> None:
    """Add a shape to matplotlib's axes, above those with a lower `order`."""
    if isinstance(shape, Text):
        style = {"color": shape.colour, "fontsize": shape.size * POINTS, "zorder": order}
        side = "center" if shape.centred else "left"
        axes.text(shape.x, shape.y, shape.text, ha=side, va="center_baseline", **style)
    elif isinstance(shape, Strokes):
        style = {"colors": shape.colour, "linewidths": shape.width * POINTS, "capstyle": "butt"}
        axes.add_collection(LineCollection(shape.lines, zorder=order, **style), False)
    elif isinstance(shape, Slice):
        turns = 360 * shape.start - 90, 360 * shape.end - 90  # y grows downwards: degrees run clockwise
        style = {"facecolor": shape.colour, "edgecolor": "none", "zorder": order}
        axes.add_patch(Wedge((shape.x, shape.y), shape.radius, *turns, **style))
    else:
        style = {"facecolor": shape.colour, "edgecolor": "none", "zorder": order}
        axes.add_patch(Polygon(shape.points, closed=True, **style))


def number(value: float) -> str:
    """Return a number with at most two decimals."""
    return f"{value:.2f}".rstrip("0").rstrip(".")
