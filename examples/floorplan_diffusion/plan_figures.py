"""Compare generated plans with real ones: metrics, and a table of them."""

import math
from collections.abc import Iterator

import numpy

from examples.floorplan_diffusion.metrics import (
    axis_distance,
    closed_share,
    histogram_distance,
    line_distance,
    mean_corners,
    room_histograms,
)
from examples.floorplan_diffusion.plans import Plan
from examples.floorplan_diffusion.rooms import straightened

ROWS = {  # of the table: name, unit, digits
    "line_distance": ("corners off the lines in x and y", "px", 2),
    "axis_distance": ("off the nearer of both lines", "px", 2),
    "closed": ("closed plans", "%", 1),
    "closed_straightened": ("closed when straightened", "%", 1),
    "corners": ("corners per plan", "", 2),
    "rooms": ("rooms per plan", "", 2),
    "room_distance": ("distance of room counts", "", 2),
}


def describe_plans(plans: list[Plan], real: list[Plan]) -> dict[str, dict[str, float]]:
    """Return the metrics of generated plans and, if given, of real ones, with distances between both."""
    found = {"drawn": figures(plans)}
    if real:
        found["data"] = figures(real)
        histograms = [room_histograms(some)["total"] for some in (plans, real)]
        found["drawn"]["room_distance"] = histogram_distance(*histograms)
    return found


def figures(plans: list[Plan]) -> dict[str, float]:
    """Return the metrics of plans that need no comparison."""
    total = room_histograms(plans)["total"]
    return {
        "plans": len(plans),
        "line_distance": line_distance(plans),
        "axis_distance": axis_distance(plans),
        "closed": closed_share(plans),
        "closed_straightened": closed_share([straightened(plan) for plan in plans]),
        "corners": mean_corners(plans),
        "rooms": float(total @ numpy.arange(len(total))),
    }


def metrics_table(found: dict[str, dict[str, float]]) -> Iterator[str]:
    """Yield the lines of a table of metrics, with a column for each entry."""
    yield " " * 37 + "".join(f"{part:>9}" for part in found)
    for key, (name, unit, digits) in ROWS.items():
        factor = 100 if unit == "%" else 1
        cells = []
        for values in found.values():
            value = values.get(key, math.nan)
            cells.append(f"{factor * value:9.{digits}f}" if math.isfinite(value) else " " * 8 + "–")
        yield f"{f'{name} ({unit})' if unit else name:37}" + "".join(cells)
