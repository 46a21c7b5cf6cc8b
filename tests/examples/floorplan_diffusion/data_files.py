"""The files that this system reads, for the attacks of test_damaged_data.py, and arrays for other tests."""

import numpy
import torch

from examples.floorplan_diffusion.drawing import gallery
from examples.floorplan_diffusion.generated_plans import generate_plans
from examples.floorplan_diffusion.open_forms import read_drawings, to_plans
from examples.floorplan_diffusion.plan_dxf import dxf_of
from examples.floorplan_diffusion.plan_files import read_plans, write_plans
from examples.floorplan_diffusion.plan_json import json_of
from examples.floorplan_diffusion.plans import MOST_CORNERS, Plan, PlanSet
from examples.floorplan_diffusion.rooms import find_rooms
from snippets.errors import UsageError

PLANS = 12


def hand_made():
    """Return two plans in arrays for five corners: a house of one bedroom, and one wall of a balcony."""
    house = Plan(
        numpy.array([[10.0, 20], [50, 20], [50, 60], [10, 60]]),
        numpy.array([[0, 1, 0, 0, 0, 0, 1]] * 4, dtype=bool),
        numpy.array([[0, 1], [0, 3], [1, 2], [2, 3]]),
    )
    wall = Plan(
        numpy.array([[0.0, 0], [255, 0]]),
        numpy.array([[0, 0, 0, 0, 0, 1, 0], [0, 0, 0, 0, 0, 1, 1]], dtype=bool),
        numpy.array([[0, 1]]),
    )
    return PlanSet.of("hand", "made by hand", [house, wall], most=5)


def arrays():
    """Return what a file with those two plans holds, typed by hand."""
    bedroom, balcony, both = [0, 1, 0, 0, 0, 0, 1], [0, 0, 0, 0, 0, 1, 0], [0, 0, 0, 0, 0, 1, 1]
    nothing = [0] * 7
    return {
        "corners": numpy.array(
            [[[10, 20], [50, 20], [50, 60], [10, 60], [0, 0]], [[0, 0], [255, 0], [0, 0], [0, 0], [0, 0]]],
            dtype=numpy.uint8,
        ),
        "kinds": numpy.array([[bedroom] * 4 + [nothing], [balcony, both] + [nothing] * 3], dtype=bool),
        "counts": numpy.array([4, 2]),
        "walls": numpy.array([[0, 1], [0, 3], [1, 2], [2, 3], [0, 1]], dtype=numpy.uint8),
        "wall_counts": numpy.array([4, 1]),
    }


def assert_equal(first, second):
    """Fail unless two sets have the same plans, in the same order and types."""
    for name in ("corners", "kinds", "counts", "walls"):
        one, other = getattr(first, name), getattr(second, name)
        assert one.dtype == other.dtype and torch.equal(one, other), name


def make_plans(path):
    """Write a file of plans."""
    write_plans(path, generate_plans(PLANS, 0))


def check_plans(plans):
    """Fail unless what was read has passed the checks that are promised."""
    most = plans.corners.shape[1]
    assert plans.corners.shape == (len(plans), most, 2) and plans.corners.dtype == torch.uint8
    assert plans.kinds.shape == (len(plans), most, 7) and plans.kinds.dtype == torch.bool
    assert plans.kinds.view(torch.uint8).max() <= 1
    assert plans.walls.shape == (len(plans), most, most) and plans.walls.dtype == torch.bool
    assert len(plans) > 0 and plans.counts.min() >= 1 and plans.counts.max() <= most <= MOST_CORNERS
    assert torch.equal(plans.walls, plans.walls.mT) and not plans.walls.diagonal(dim1=1, dim2=2).any()
    behind = ~plans.real()
    assert not (plans.corners[behind].any() or plans.kinds[behind].any() or plans.walls[behind].any())
    for plan in plans:
        assert len(numpy.unique(plan.corners, axis=0)) == len(plan.corners)


def make_json(path):
    """Write plans in our open form."""
    path.write_text(json_of(generate_plans(3, 0)))


def make_dxf(path):
    """Write a plan as a drawing in metres."""
    path.write_bytes(dxf_of(next(iter(generate_plans(1, 0))), 14))


def make_svg(path):
    """Write a plan as a picture."""
    path.write_text(gallery(generate_plans(1, 0), columns=1).svg())


def read_drawn(path):
    """Return the plans of JSON, DXF or SVG on the canvas. Raises UsageError when none is a plan."""
    plans, findings = to_plans(read_drawings([path], "m" if path.suffix == ".svg" else None, {}), None, 1)
    good = [plan for plan in plans if plan is not None]
    if not good:
        raise UsageError(findings.bad[0])
    return PlanSet.of("drawn", "", good)


def check_drawn(plans):
    """Fail unless the plans are whole, and closed, since they are made of rooms."""
    check_plans(plans)
    assert all(len(find_rooms(plan)) for plan in plans)


# name: what makes such a file, what reads it, what must hold for what was read
FILES = {
    "train.npz": (make_plans, read_plans, check_plans),
    "flats.json": (make_json, read_drawn, check_drawn),
    "flat.dxf": (make_dxf, read_drawn, check_drawn),
    "flat.svg": (make_svg, read_drawn, check_drawn),
}
