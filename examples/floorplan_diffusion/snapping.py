"""Put drawn corners that are almost in line on one line, before the walls are predicted."""

import numpy

from examples.floorplan_diffusion.plans import Plan


def snapped(plan: Plan, tolerance: float) -> Plan:
    """Return the corners of `plan` on common lines, as a plan without walls.

    In each axis the two neighbouring lines with the smallest gap become one, at the median of their corners,
    as long as that gap is at most `tolerance` pixels. Corners that then are at one place become one, with the
    rooms of both. A tolerance of 0 changes nothing.
    """
    lines = numpy.stack([common_lines(places, tolerance) for places in plan.corners.T], axis=1)
    places, inverse = numpy.unique(lines, axis=0, return_inverse=True)
    kinds = numpy.zeros((len(places), plan.kinds.shape[1]), dtype=bool)
    numpy.logical_or.at(kinds, inverse.reshape(-1), plan.kinds)
    return Plan(places, kinds, numpy.zeros((0, 2), dtype=int))


def common_lines(places: numpy.ndarray, tolerance: float) -> numpy.ndarray:
    """Return for each of the places (corners,), pixels, its line: one place for all that are near."""
    order = numpy.argsort(places, kind="stable")
    groups = [[place] for place in places[order].tolist()]
    while len(groups) > 1:
        lines = [numpy.median(group) for group in groups]
        gaps = numpy.diff(lines)
        nearest = int(gaps.argmin())
        if gaps[nearest] > tolerance:
            break
        groups[nearest : nearest + 2] = [groups[nearest] + groups[nearest + 1]]
    found = numpy.empty(len(places))
    found[order] = numpy.repeat([numpy.median(group).round() for group in groups], [*map(len, groups)])
    return found
