"""Compare generated plans with real ones: metrics, and a table of them."""

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy

from examples.floorplan_diffusion.metrics import (
    axis_distance,
    closed_share,
    histogram_distance,
    line_distance,
    mean_corners,
    room_histograms,
)
from examples.floorplan_diffusion.plans import CANVAS, Plan
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


def describe_plans(
    plans: list[Plan], real: list[Plan], drawn: list[Plan] | None = None
) -> dict[str, dict[str, float]]:
    """Return the metrics of generated plans, of real ones if given, with distances, and of random corners.

    `drawn` are the corners as the network drew them, before they were put on common lines.
    """
    drawn = plans if drawn is None else drawn
    found = {"drawn": figures(plans) | lines(drawn)}
    if real:
        found["data"] = figures(real)
        histograms = [room_histograms(some)["total"] for some in (plans, real)]
        found["drawn"]["room_distance"] = histogram_distance(*histograms)
    found["random"] = lines(at_random(drawn))
    return found


def figures(plans: list[Plan]) -> dict[str, float]:
    """Return the metrics of plans that need no comparison."""
    total = room_histograms(plans)["total"]
    return {
        "plans": len(plans),
        **lines(plans),
        "closed": closed_share(plans),
        "closed_straightened": closed_share([straightened(plan) for plan in plans]),
        "corners": mean_corners(plans),
        "rooms": float(total @ numpy.arange(len(total))),
    }


def lines(plans: list[Plan]) -> dict[str, float]:
    """Return how far corners are off common lines. Corners on the frame of the canvas do not count.

    Sampling clips what leaves the canvas, so noise has many corners on the frame, which are all in line.
    """
    inside = [replace(plan, corners=plan.corners[within(plan.corners)]) for plan in plans]
    return {"line_distance": line_distance(inside), "axis_distance": axis_distance(inside)}


def within(corners: numpy.ndarray) -> numpy.ndarray:
    """Return which corners (corners, 2), pixels, are not on the frame of the canvas."""
    return ((corners > 0) & (corners < CANVAS - 1)).all(axis=1)


def at_random(plans: list[Plan]) -> list[Plan]:
    """Return plans with as many corners at random places; always the same for the same numbers."""
    random = numpy.random.default_rng(0)
    return [
        replace(plan, corners=random.integers(1, CANVAS - 1, plan.corners.shape).astype(float))
        for plan in plans
    ]


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
