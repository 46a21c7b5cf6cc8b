"""Metrics of plans and walls that need no pretrained network."""

from collections import Counter
from collections.abc import Iterable
from typing import TypeAlias

import numpy
import torch

from examples.floorplan_diffusion import alignment
from examples.floorplan_diffusion.plans import KINDS, OUTSIDE, Plan, PlanSet
from examples.floorplan_diffusion.rooms import find_rooms, is_closed

Histogram: TypeAlias = numpy.ndarray  # (most + 1,): the share of plans with 0, 1, 2 ... rooms


# --8<-- [start:axis_distance]
def axis_distances(corners: numpy.ndarray) -> numpy.ndarray:
    """Return the distance of each corner from axis alignment with another one, (corners,), pixels.

    The distance of two corners is the smaller of |Δx| and |Δy|, which is 0 when a horizontal or vertical wall
    can join them. `corners`: (corners, 2), pixels. For a single corner the result is empty.
    """
    if len(corners) < 2:
        return numpy.zeros(0)
    places = torch.from_numpy(corners).unsqueeze(0)
    return alignment.axis_distances(places, torch.ones(places.shape[:2], dtype=torch.bool))[0].numpy()


def axis_distance(plans: Iterable[Plan]) -> float:
    """Return the median of the axis distances of all corners of all plans, pixels; NaN without any."""
    return median(axis_distances(plan.corners) for plan in plans)


# --8<-- [end:axis_distance]
# --8<-- [start:line_distance]
def line_distances(corners: numpy.ndarray) -> numpy.ndarray:
    """Return the distance of each corner from alignment with others in both axes, (corners,), pixels.

    It is the larger of the distances to the nearest other corner in x and in y: a corner of a plan is aligned
    with one corner vertically and another horizontally, which is rare for random corners. `corners`:
    (corners, 2), pixels. For a single corner the result is empty.
    """
    if len(corners) < 2:
        return numpy.zeros(0)
    distances = numpy.abs(corners[:, None] - corners[None])
    distances[numpy.diag_indices(len(corners))] = numpy.inf
    return distances.min(axis=1).max(axis=1)


def line_distance(plans: Iterable[Plan]) -> float:
    """Return the median of the line distances of all corners of all plans, pixels; NaN without any."""
    return median(line_distances(plan.corners) for plan in plans)


# --8<-- [end:line_distance]
def median(parts: Iterable[numpy.ndarray]) -> float:
    """Return the median of all values in the arrays, or NaN without values."""
    values = numpy.concatenate([numpy.zeros(0), *parts])
    return float(numpy.median(values)) if len(values) else float("nan")


def mean_corners(plans: Iterable[Plan]) -> float:
    """Return the mean number of corners of a plan; NaN without plans."""
    return mean([len(plan.corners) for plan in plans])


def closed_share(plans: Iterable[Plan]) -> float:
    """Return the share of plans that consist of closed rooms, from 0 to 1; NaN without plans."""
    return mean([is_closed(plan) for plan in plans])


def mean(values: list[float]) -> float:
    """Return the mean, or NaN without values."""
    return sum(values) / len(values) if values else float("nan")


# --8<-- [start:room_histograms]
def room_histograms(plans: Iterable[Plan]) -> dict[str, Histogram]:
    """Return the shares of plans with 0, 1, 2 … rooms, in total ("total") and of each kind."""
    counts = []
    for plan in plans:
        kinds = Counter(room.kind for room in find_rooms(plan))
        counts.append([kinds.total(), *(kinds[kind] for kind in range(OUTSIDE))])
    table = numpy.array(counts, dtype=int).reshape(-1, 1 + OUTSIDE)
    names = ("total", *KINDS[:OUTSIDE])
    return {
        name: numpy.bincount(column) / max(1, len(table)) for name, column in zip(names, table.T, strict=True)
    }


def histogram_distance(first: Histogram, second: Histogram) -> float:
    """Return the earth mover's distance (Wasserstein-1) of two histograms, in rooms: Σₖ |F(k) - G(k)|.

    F and G are the cumulative shares. It is the mean number of rooms to add to or remove from a plan to make
    the histograms equal.
    """
    most = max(len(first), len(second))
    padded = [numpy.pad(histogram, (0, most - len(histogram))) for histogram in (first, second)]
    return float(numpy.abs(numpy.cumsum(padded[0] - padded[1])).sum())


# --8<-- [end:room_histograms]
# --8<-- [start:wall_scores]
def pairs_of_corners(plans: PlanSet) -> torch.Tensor:
    """Return which pairs can have a wall: two different corners of a plan, each pair once.

    Bool (plans, most corners, most corners), true above the diagonal only.
    """
    real = plans.real()
    return (real.unsqueeze(1) & real.unsqueeze(2)).triu(diagonal=1)


def f1(predicted: torch.Tensor, true: torch.Tensor) -> float:
    """Return 2·TP / (2·TP + FP + FN) over pairs of corners: `predicted` and `true` are bool, of one shape.

    Unlike accuracy, it ignores correct pairs without a wall, which are most pairs. Without any wall,
    predicted or true, it is 1.
    """
    walls = int(predicted.sum()) + int(true.sum())  # 2·TP + FP + FN
    return 2 * int((predicted & true).sum()) / walls if walls else 1.0


def accuracy(predicted: torch.Tensor, true: torch.Tensor) -> float:
    """Return the share of correct pairs in bool tensors of one shape; NaN without pairs."""
    return int((predicted == true).sum()) / true.numel() if true.numel() else float("nan")


# --8<-- [end:wall_scores]
