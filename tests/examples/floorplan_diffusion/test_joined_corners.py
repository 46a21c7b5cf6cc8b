"""Corners become plans: the walls that the network of stage 2 finds, and no others."""

import itertools

import numpy
import pytest
import torch

from examples.floorplan_diffusion.edge_network import EdgeNetwork
from examples.floorplan_diffusion.generated_plans import generate_plans
from examples.floorplan_diffusion.joined_corners import join_corners
from examples.floorplan_diffusion.plan_files import read_plans, write_plans
from examples.floorplan_diffusion.plans import Plan, PlanSet

CPU = torch.device("cpu")


def bare(plans):
    """Return the plans without their walls."""
    return [Plan(plan.corners, plan.kinds, numpy.zeros((0, 2), dtype=int)) for plan in plans]


class Known(torch.nn.Module):
    """Knows the walls of plans that it is shown in their order, and takes what is padding for walls."""

    def __init__(self, plans):
        super().__init__()
        self.plans = iter(plans)

    def forward(self, corners, bits, pairs, real, fractions):
        plans = PlanSet.of("known", "", list(itertools.islice(self.plans, len(corners))))
        assert torch.equal(plans.corners.float(), corners) and torch.equal(plans.kinds.float(), bits)
        walls = (plans.walls[:, pairs[0], pairs[1]] | ~real).float()
        return torch.stack([1 - walls, walls], -1), fractions


@pytest.mark.parametrize("size", [64, 12, 5])
def test_a_perfect_network_gives_back_the_walls(size):
    plans = list(generate_plans(12, 0))
    assert len({len(plan.corners) for plan in plans}) > 3  # so that there is padding
    joined = join_corners(Known(plans), bare(plans), CPU, size)
    for plan, found in zip(plans, joined, strict=True):
        assert found.walls.tolist() == plan.walls.tolist()
        assert (found.corners == plan.corners).all() and (found.kinds == plan.kinds).all()


@pytest.mark.parametrize("counts", [[1], [1, 1], [1, 2, 9]])
def test_single_corners_stay_alone(counts, tmp_path):
    torch.manual_seed(0)
    random = numpy.random.default_rng(0)
    places = [random.permutation(50)[: 2 * count].reshape(count, 2) * 5.0 for count in counts]
    plans = bare(Plan(corners, numpy.ones((len(corners), 7), bool), None) for corners in places)
    joined = join_corners(EdgeNetwork(16, 1, 4), plans, CPU)
    assert [len(plan.corners) for plan in joined] == counts
    assert all(len(plan.walls) == 0 for plan in joined if len(plan.corners) == 1)
    write_plans(tmp_path / "plans.npz", PlanSet.of("drawn", "", joined))
    for plan, read in zip(joined, read_plans(tmp_path / "plans.npz"), strict=True):
        assert plan.walls.reshape(-1, 2).tolist() == read.walls.tolist()
