"""Floor plans in SVG: each room is a polygon, a rectangle or a closed path with a name.

The name is a title in the element, its label of Inkscape, its id or class, those of its groups, or a text
inside. The class is the name in CubiCasa5k, as in "Space LivingRoom".
"""

import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import numpy
from svgelements import Arc, Close, CubicBezier, Line, Matrix, Move, QuadraticBezier
from svgelements import Path as Route

from examples.floorplan_diffusion.canvas import PIXELS
from examples.floorplan_diffusion.drawn_plans import DrawnPlan
from examples.floorplan_diffusion.named_outlines import LARGEST, ClosedLine, Label, rooms_of
from snippets.errors import UsageError
from snippets.foreign_files import read_bytes

INKSCAPE = "{http://www.inkscape.org/namespaces/inkscape}label"
SVG = "{http://www.w3.org/2000/svg}"
UNSEEN = ("defs", "symbol", "clipPath", "mask", "marker", "pattern")  # what they hold is not drawn
DEEPEST = 100  # groups in groups
CURVES = (Arc, CubicBezier, QuadraticBezier)


def read_svg_plan(path: Path, unit: str | None, own: dict[str, int]) -> list[DrawnPlan]:
    """Return the plan in a file, in a list; one unit of the drawing is a pixel unless `unit` is given.

    Raises UsageError.
    """
    try:
        content = read_bytes(path, LARGEST)
        if re.search(rb"<!(DOCTYPE|ENTITY)[^>]*(\[|ENTITY)", content):
            raise ValueError("it defines entities; save it as plain SVG")
        root = ElementTree.fromstring(content)
        if root.tag.removeprefix(SVG) != "svg":
            raise ValueError(f"its first element is {root.tag[:40]}, not svg")
        found = list(shapes_of(root, Matrix(), (), 0))
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
    except Exception as error:  # a damaged file can raise any error
        what = str(error).partition("\n")[0][:80] or type(error).__name__
        raise UsageError(f"{path} is no whole SVG drawing: {what}") from None
    lines = [shape for shape in found if isinstance(shape, ClosedLine)]
    labels = [shape for shape in found if isinstance(shape, Label)]
    return [rooms_of(path, unit or PIXELS, lines, labels, own)]


def shapes_of(
    element: ElementTree.Element, turned: Matrix, names: tuple[str, ...], depth: int
) -> Iterator[ClosedLine | Label]:
    """Yield the closed lines and texts of an element and of all in it, with all transformations applied."""
    tag = element.tag.removeprefix(SVG) if isinstance(element.tag, str) else ""
    if tag in UNSEEN:
        return
    if depth > DEEPEST:
        raise ValueError(f"more than {DEEPEST} groups in one another")
    if element.get("transform"):
        turned = Matrix(element.get("transform")) * turned
    own = (
        element.findtext(f"{SVG}title") or element.findtext("title"),
        element.get(INKSCAPE),
        element.get("id"),
        element.get("class"),
    )
    names = (*(name.strip() for name in own if name and name.strip()), *names) if tag != "svg" else ()
    route = route_of(tag, element)
    if route is not None:
        yield from closed_lines(abs(route * turned), names)  # abs() applies the transformation to the points
    elif tag == "text":
        place = turned.point_in_matrix_space((number(element, "x"), number(element, "y")))
        yield Label((place.x, place.y), " ".join("".join(element.itertext()).split()))
    else:
        for part in element:
            yield from shapes_of(part, turned, names, depth + 1)


def route_of(tag: str, element: ElementTree.Element) -> Route | None:
    """Return the line of a polygon, a rectangle or a path; None for other elements."""
    if tag == "path":
        return Route(element.get("d", ""))
    if tag == "polygon":
        return Route("M" + element.get("points", "") + "Z") if element.get("points", "").strip() else Route()
    if tag == "rect":
        x, y, width, height = (number(element, name) for name in ("x", "y", "width", "height"))
        if number(element, "rx") or number(element, "ry"):
            return Route(f"M{x} {y}h{width}v{height}h{-width}A1 1 0 0 1 {x} {y}Z")  # rounded: curved
        return Route(f"M{x} {y}h{width}v{height}h{-width}Z")
    return None


def number(element: ElementTree.Element, name: str) -> float:
    """Return an attribute as a number without a unit, 0 when it is missing. Raises ValueError."""
    value = (element.get(name) or "0").split()[0].removesuffix("px")
    try:
        return float(value)
    except ValueError:
        raise ValueError(f"{name}={value[:20]!r} is no number without a unit; save as plain SVG") from None


def closed_lines(route: Route, names: tuple[str, ...]) -> Iterator[ClosedLine]:
    """Yield the closed parts of a path."""
    for part in route.as_subpaths():
        segments = list(part)
        ends = [segment.end for segment in segments if isinstance(segment, (Move, Line, *CURVES))]
        ends = [end for end in ends if end is not None]
        closed = any(isinstance(segment, Close) for segment in segments)
        if len(ends) > 2 and (closed or ends[0] == ends[-1]):
            curved = any(isinstance(segment, CURVES) for segment in segments)
            corners = numpy.array([(end.x, end.y) for end in ends], dtype=float)
            yield ClosedLine(corners, names, curved)
