"""The distance from standing in line, as a loss and as the guide's system counts it."""

import math

import pytest
import torch

from examples.floorplan_diffusion.alignment import alignment_loss, axis_distances, digit_penalty
from examples.floorplan_diffusion.generated_plans import generate_plans
from examples.floorplan_diffusion.plans import CANVAS


def slow_distances(places, real):
    """Return the same with two loops, in lists."""
    plans = []
    for corners, there in zip(places.tolist(), real.tolist(), strict=True):
        distances = []
        for i, (x, y) in enumerate(corners):
            others = [
                min(abs(x - other[0]), abs(y - other[1]))
                for j, other in enumerate(corners)
                if i != j and there[i] and there[j]
            ]
            distances.append(min(others, default=math.inf))
        plans.append(distances)
    return plans


def random_corners(seed=0):
    """Return corners (6, 9, 2) from -1 to 1, and which of them are there: none of the first, then more."""
    generator = torch.Generator().manual_seed(seed)
    places = torch.rand(6, 9, 2, generator=generator) * 2 - 1
    return places, torch.rand(6, 9, generator=generator) < torch.linspace(0, 1, 6).unsqueeze(1)


def test_distances_are_those_of_two_loops():
    places, real = random_corners()
    assert 0 < real.sum() < real.numel()
    found = axis_distances(places, real)
    assert found.isinf().any() and found.isfinite().any()
    torch.testing.assert_close(found, torch.tensor(slow_distances(places, real)))


def test_known_distances_and_losses():
    """The second is 0.2 to the right of the first, the third 0.1 below the second."""
    places, real = torch.tensor([[(-0.5, -0.5), (-0.3, 0.4), (0.9, 0.5)]]), torch.ones(1, 3, dtype=torch.bool)
    torch.testing.assert_close(axis_distances(places, real), torch.tensor([[0.2, 0.1, 0.1]]))
    expected = [-2 * math.log(0.9), -2 * math.log(0.95), -2 * math.log(0.95)]
    torch.testing.assert_close(alignment_loss(places, real), torch.tensor([expected]))


def test_plans_in_line_have_no_loss_and_no_penalty():
    plans = generate_plans(30, 0)
    distances = axis_distances(plans.corners.float(), plans.real())[plans.real()]
    assert (distances == 0).all() and len(distances) > 300
    assert (digit_penalty(distances) == 0).all()
    places = plans.corners / (CANVAS / 2) - 1
    assert (alignment_loss(places, plans.real()) == 0).all()


def test_the_greatest_distance_has_a_finite_loss():
    """Unlike with the guide's 1 - 1e-8, which float32 rounds to 1."""
    opposite, real = torch.tensor([[(-1.0, -1.0), (1.0, 1.0)]]), torch.ones(1, 2, dtype=torch.bool)
    assert axis_distances(opposite, real).tolist() == [[2, 2]]
    without = -2 * torch.log(1 - axis_distances(opposite, real) / 2 * (1 - 1e-8))
    assert without.tolist() == [[math.inf, math.inf]]
    opposite.requires_grad_()
    loss = alignment_loss(opposite, real)
    assert loss.dtype == torch.float32
    assert loss.tolist() == [[pytest.approx(-2 * math.log(1e-4))] * 2]
    loss.sum().backward()
    assert opposite.grad.isfinite().all()


def test_the_loss_moves_corners_into_line():
    places = torch.tensor([[(-0.5, -0.5), (-0.3, 0.4), (0.9, 0.5)]], requires_grad=True)
    real = torch.ones(1, 3, dtype=torch.bool)
    alignment_loss(places, real).sum().backward()
    (first, second, third) = places.grad[0].tolist()
    assert first[0] < 0 < second[0] and first[1] == 0  # x of the first must grow, that of the second fall
    assert second[1] < 0 < third[1] and third[0] == 0  # y of the second must grow, that of the third fall
    assert -first[0] == pytest.approx(1 / 0.9)  # of -2·ln(1 - d/2): 1 / (1 - d/2)
    before = alignment_loss(places, real).sum()
    assert alignment_loss(places - 0.01 * places.grad, real).sum() < before


def test_digits_have_no_gradient():
    places = torch.rand(1, 5, 2, requires_grad=True)
    distances = axis_distances(places * CANVAS, torch.ones(1, 5, dtype=torch.bool))
    assert distances.requires_grad and not digit_penalty(distances).requires_grad


@pytest.mark.parametrize(
    ("pixels", "sums"),
    [(0, (0, 0, 0, 0)), (1, (1, 1, 1, 1)), (7, (3, 4, 7, 7)), (100, (3, 4, 9, 10)), (255, (8, 12, 17, 30))],
)
def test_digits_by_hand(pixels, sums):
    """100 is 1100100, 1210, 144 and 64."""
    expected = -sum(k * math.log(1 - total / k) for total, k in zip(sums, (12, 18, 35, 45), strict=True))
    found = digit_penalty(torch.tensor([[float(pixels), 0.0]]))
    assert found.tolist() == [[pytest.approx(expected, rel=1e-5), 0]]


def test_padding_is_no_corner():
    places, real = torch.rand(1, 4, 2) * 2 - 1, torch.ones(1, 4, dtype=torch.bool)
    more = torch.cat([places, places[:, :2]], 1)  # the same places: in line, if they counted
    padded = torch.cat([real, torch.zeros(1, 2, dtype=torch.bool)], 1)
    assert torch.equal(axis_distances(more, padded)[:, :4], axis_distances(places, real))
    assert axis_distances(more, padded)[:, 4:].isinf().all()
    loss = alignment_loss(more.requires_grad_(), padded)
    assert torch.equal(loss[:, :4], alignment_loss(places, real)) and (loss[:, 4:] == 0).all()
    loss.sum().backward()
    assert (more.grad[:, 4:] == 0).all() and more.grad.isfinite().all() and more.grad.any()


@pytest.mark.parametrize("count", [0, 1])
def test_who_has_no_other_corner_has_no_loss(count):
    places, real = torch.rand(2, 3, 2, requires_grad=True), torch.arange(3).expand(2, 3) < count
    loss = alignment_loss(places, real)
    assert (loss == 0).all()
    loss.sum().backward()
    assert (places.grad == 0).all()
