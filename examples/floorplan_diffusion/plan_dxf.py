"""Floor plans in DXF: each room is a closed polyline, on a layer with its name or with a text inside.

LWPOLYLINE and POLYLINE of the modelspace and of its blocks are read, with TEXT, MTEXT and attributes of
blocks as names; y grows upwards there. The library ezdxf reads and writes the files.
"""

import io
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

import ezdxf
import numpy
from ezdxf import recover, units
from ezdxf.entities import DXFEntity, Insert, LWPolyline, MText, Polyline, Text

from examples.floorplan_diffusion.canvas import PIXELS, UNITS
from examples.floorplan_diffusion.drawn_plans import DrawnPlan
from examples.floorplan_diffusion.named_outlines import LARGEST, ClosedLine, Label, rooms_of
from examples.floorplan_diffusion.plans import CANVAS, KINDS, OUTSIDE, Plan
from examples.floorplan_diffusion.rooms import find_rooms
from snippets.errors import UsageError
from snippets.foreign_files import read_bytes

UNIT_OF_CODE = {units.M: "m", units.CM: "cm", units.MM: "mm", units.FT: "ft", units.IN: "in"}
UNIT = "unit"  # the property of a drawing that our files have
SINGLE = ("LINE", "ARC")
MOST_ENTITIES = 200_000  # blocks in blocks can make any number of a small file
DEEPEST = 20  # blocks in blocks
COLOURS = (2, 5, 8, 30, 4, 3)  # AutoCAD's numbers, by kind


def read_dxf_plan(path: Path, unit: str | None, own: dict[str, int]) -> list[DrawnPlan]:
    """Return the plan in a file, in a list; `unit` counts before the file's. Raises UsageError."""
    try:
        content = read_bytes(path, LARGEST)
        if content[:4] in (b"AC10", b"AC1."):
            raise ValueError(f"it is a DWG file ({content[:6].decode()}); save it as DXF in a CAD program")
        if b"ENTITIES" not in content:  # without it, the library takes any file for an empty drawing
            raise ValueError("it has no section ENTITIES")
        document, _ = recover.read(io.BytesIO(content))
        entities = list(islice(parts(document.modelspace()), MOST_ENTITIES + 1))
        if len(entities) > MOST_ENTITIES:
            raise ValueError(f"more than {MOST_ENTITIES:,} lines and texts, with those of its blocks")
        lines = [closed_line(entity) for entity in entities if closed(entity)]
        labels = [label_of(entity) for entity in entities if isinstance(entity, (Text, MText))]
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror or 'it is no DXF'}") from None
    except Exception as error:  # a damaged file can raise any error
        what = str(error).partition("\n")[0][:80] or type(error).__name__
        raise UsageError(f"{path} is no whole DXF drawing: {what}") from None
    single = sum(entity.dxftype() in SINGLE for entity in entities)
    if not lines and single:
        raise UsageError(
            f"{path} has no closed lines, only {single:,} single ones ({', '.join(SINGLE)}, open polylines); "
            "make a closed polyline of each room, as the command BOUNDARY of AutoCAD does"
        )
    found = unit or UNIT_OF_CODE.get(document.units) or document.header.custom_vars.get(UNIT)
    if found not in (*UNITS, PIXELS):
        raise UsageError(
            f"{path} does not say its unit ($INSUNITS); --unit {'|'.join((*UNITS, PIXELS))} does"
        )
    top = CANVAS if found == PIXELS else 0  # pixels count from the canvas' upper edge
    lines = [replace(line, corners=line.corners + numpy.array([0, top])) for line in lines]
    labels = [replace(label, place=(label.place[0], label.place[1] + top)) for label in labels]
    return [rooms_of(path, found, lines, labels, own)]


def parts(entities: Iterable[DXFEntity], depth: int = 0) -> Iterator[DXFEntity]:
    """Yield entities, and instead of a block reference its attributes and the block's entities in place."""
    for entity in entities:
        if not isinstance(entity, Insert):
            yield entity
        elif depth > DEEPEST:
            raise ValueError(f"more than {DEEPEST} blocks in one another")
        else:
            yield from entity.attribs
            for one in entity.multi_insert() if entity.mcount > 1 else [entity]:
                yield from parts(one.virtual_entities(), depth + 1)


def closed(entity: DXFEntity) -> bool:
    """Return whether a polyline is a closed line in the plane with at least three corners."""
    if isinstance(entity, LWPolyline):
        ends = entity.get_points("xy")
        return len(ends) > 2 and (entity.closed or ends[0] == ends[-1])
    return (
        isinstance(entity, Polyline)
        and entity.is_2d_polyline
        and entity.is_closed
        and len(entity.vertices) > 2
    )


def closed_line(entity: DXFEntity) -> ClosedLine:
    """Return a closed polyline with its layer as its name."""
    if isinstance(entity, LWPolyline):
        points, bulges = entity.get_points("xy"), [bulge for (bulge,) in entity.get_points("b")]
    else:
        points = [(vertex.dxf.location.x, vertex.dxf.location.y) for vertex in entity.vertices]
        bulges = [vertex.dxf.bulge for vertex in entity.vertices]
    return ClosedLine(downwards(points), (entity.dxf.layer,), any(bulges))


def label_of(entity: DXFEntity) -> Label:
    """Return a text with its place."""
    text = entity.plain_text(fast=False) if isinstance(entity, MText) else entity.plain_text()
    return Label((entity.dxf.insert.x, -entity.dxf.insert.y), text.replace("\n", " ").strip())


def downwards(points: object) -> numpy.ndarray:
    """Return points with y growing downwards, (points, 2) float64."""
    return numpy.array(points, dtype=float).reshape(-1, 2) * (1, -1)


def dxf_of(plan: Plan, pixels_per_metre: float | None = None) -> bytes:
    """Return the rooms of a plan as a DXF file (R2010), which `read_dxf_plan` reads.

    Each room is a closed polyline on the layer of its kind. Lengths are metres, or pixels without a scale:
    DXF has no code for these, so that a property of the drawing says it.
    """
    document = ezdxf.new("R2010", units=units.M if pixels_per_metre else 0)
    if not pixels_per_metre:
        document.header.custom_vars.append(UNIT, PIXELS)
    for kind, colour in zip(KINDS[:OUTSIDE], COLOURS, strict=True):
        document.layers.add(kind.upper(), color=colour)
    for room in find_rooms(plan):
        corners = plan.corners[list(room.corners)]
        places = numpy.stack([corners[:, 0], CANVAS - corners[:, 1]], axis=1) / (pixels_per_metre or 1)
        style = {"layer": KINDS[room.kind].upper()}
        document.modelspace().add_lwpolyline(places.tolist(), close=True, dxfattribs=style)
    file = io.StringIO()
    document.write(file)
    return file.getvalue().encode()
