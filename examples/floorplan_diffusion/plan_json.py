"""Our open form of floor plans in JSON: rooms with a name and the corners of their outlines.

    {"unit": "m", "plans": [{"rooms": [{"name": "bedroom", "corners": [[0, 0], [4, 0], [4, 3], [0, 3]]}]}]}

A file may also hold a list of plans, or one plan; then the unit stands in each plan. y grows downwards. The
last corner is joined to the first.
"""

import json
import math
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy

from examples.floorplan_diffusion.canvas import PIXELS, UNITS
from examples.floorplan_diffusion.drawn_plans import DrawnPlan, DrawnRoom
from examples.floorplan_diffusion.plans import KINDS, MOST_CORNERS, Plan
from examples.floorplan_diffusion.room_words import NO_ROOM, kind_of, unknown
from examples.floorplan_diffusion.rooms import find_rooms
from snippets.errors import UsageError
from snippets.foreign_files import read_bytes

LARGEST = 1 << 28  # bytes of a file: 80,000 plans take about half of it
FOREIGN = {  # a key with the form that has it
    "shapes": "labelme's form, with label and points of each shape",
    "annotations": "COCO's form, with categories and polygons of all pictures in one file",
    "room_type": "House-GAN++'s form, with boxes and edges of rooms and doors and no outlines",
    "features": "GeoJSON, which has no lengths but degrees",
}
WRITE = 'write its rooms in the open form, {"rooms": [{"name": ..., "corners": [[x, y], ...]}]}'
MOST_ROOMS = 200  # of a plan; a plan on the canvas has at most 53 corners


def read_json_plans(path: Path, unit: str | None, own: dict[str, int]) -> list[DrawnPlan]:
    """Return the plans in a file; `unit` counts before the file's. Raises UsageError with file and plan."""
    content = whole_json(path)
    if isinstance(content, dict) and "rooms" in content:
        plans: Any = [content]
    elif isinstance(content, dict):
        plans = content.get("plans")
    else:
        plans = content
    if isinstance(content, dict) and (foreign := next((key for key in FOREIGN if key in content), None)):
        raise UsageError(f"{path} is {FOREIGN[foreign]}; {WRITE}")
    if not isinstance(plans, list) or not plans:
        raise UsageError(f'{path} has no plans; it must hold {{"unit": "m", "plans": [{{"rooms": [...]}}]}}')
    general = content.get("unit") if isinstance(content, dict) else None
    return [read_plan(f"{path}, plan {n}", plan, unit, general, own) for n, plan in enumerate(plans)]


def whole_json(path: Path) -> Any:
    """Return the value in a JSON file in UTF-8, with or without a byte order mark. Raises UsageError."""
    try:
        return json.loads(read_bytes(path, LARGEST).decode("utf-8-sig"))
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not text in UTF-8; save it with the encoding UTF-8") from None
    except RecursionError:
        raise UsageError(f"{path} is no JSON of plans: lists in lists, too deep") from None
    except ValueError as error:
        raise UsageError(f"{path} is no JSON: {error}") from None


def read_plan(where: str, plan: Any, unit: str | None, general: Any, own: dict[str, int]) -> DrawnPlan:
    """Return one plan. Raises UsageError with its place."""
    if not isinstance(plan, dict):
        raise UsageError(f'{where}: {plan!r:.40} is not a plan like {{"rooms": [...]}}')
    unit = unit or plan.get("unit", general)
    if unit not in (*UNITS, PIXELS):
        raise UsageError(
            f'{where}: unit {unit!r:.20}; write "unit": one of {", ".join(UNITS)}, {PIXELS}, or --unit'
        )
    rooms = plan.get("rooms")
    if not isinstance(rooms, list) or not 1 <= len(rooms) <= MOST_ROOMS:
        raise UsageError(f"{where}: it has no list of 1 to {MOST_ROOMS} rooms")
    read = [read_room(f"{where}, room {n}", room, own) for n, room in enumerate(rooms)]
    drawn = [room for room in read if room.kind != NO_ROOM]
    if not drawn:
        raise UsageError(f"{where}: all of its rooms have names of no room")
    return DrawnPlan(where, drawn, unit, Counter({"rooms whose name is none": len(read) - len(drawn)}))


def read_room(where: str, room: Any, own: dict[str, int]) -> DrawnRoom:
    """Return one room. Raises UsageError with its place."""
    if not isinstance(room, dict) or not isinstance(room.get("name"), str):
        raise UsageError(f'{where}: it has no name; write {{"name": "bedroom", "corners": [[0, 0], ...]}}')
    kind = kind_of(room["name"], own)
    if kind is None:
        raise UsageError(f"{where}: {unknown(room['name'])}")
    corners = room.get("corners")
    if not isinstance(corners, list) or not 3 <= len(corners) <= MOST_CORNERS + 1:
        raise UsageError(f"{where}: corners is no list of 3 to {MOST_CORNERS} pairs of numbers")
    for corner in corners:
        pair = isinstance(corner, list) and len(corner) == 2
        if not pair or not all(type(n) in (int, float) and math.isfinite(n) and abs(n) < 1e9 for n in corner):
            raise UsageError(f"{where}: {corner!r:.40} is not a pair of numbers [x, y]")
    return DrawnRoom(kind, open_ring(numpy.array(corners, dtype=float)))


def open_ring(corners: numpy.ndarray) -> numpy.ndarray:
    """Return an outline without a last corner that repeats the first one."""
    return corners[:-1] if len(corners) > 1 and (corners[0] == corners[-1]).all() else corners


def json_of(plans: Iterable[Plan]) -> str:
    """Return the rooms of plans as the text of a JSON file for `read_json_plans`, a room per line."""
    lines = ",\n".join(json_of_plan(plan) for plan in plans)
    return f'{{"unit": "{PIXELS}", "plans": [\n{lines}]}}\n'


def json_of_plan(plan: Plan) -> str:
    """Return the rooms of one plan as text."""
    rooms = [
        json.dumps({"name": KINDS[room.kind], "corners": plan.corners[list(room.corners)].tolist()})
        for room in find_rooms(plan)
    ]
    return '  {"rooms": [\n    ' + ",\n    ".join(rooms) + "]}"
