"""Labels by hand, their means by simulation, and the best that a forecaster can reach."""

import pytest
import torch
from torch.nn import functional as F

from examples.indicator_transformer.usefulness import (
    binary_entropy,
    expected_usefulness,
    known_optimum,
    usefulness,
)

RISES, FALLS = torch.tensor([[0.01]]), torch.tensor([[-0.02]])


@pytest.mark.parametrize(
    ("calls", "future_return", "useful"),
    [
        ([0.5, 0.25, 0.0, -1.0], RISES, [1.0, 0.5, 0.0, 0.0]),  # the strongest right call counts 1
        ([0.5, 0.25, 0.0, -1.0], FALLS, [0.0, 0.0, 0.0, 1.0]),
        ([0.2, 0.0, 0.0, 0.0], RISES, [1.0, 0.0, 0.0, 0.0]),
        ([-0.5, -0.1, 0.0, 0.0], RISES, [0.0, 0.0, 0.0, 0.0]),  # nobody was right
        ([0.0, 0.0, 0.0, 0.0], FALLS, [0.0, 0.0, 0.0, 0.0]),  # nobody called
        ([0.5, 0.25, 0.0, -1.0], torch.zeros(1, 1), [0.0, 0.0, 0.0, 0.0]),  # nothing happened
        ([1e-30, 5e-31, 0.0, 0.0], RISES, [1.0, 0.5, 0.0, 0.0]),
    ],
)
def test_usefulness_by_hand(calls, future_return, useful):
    found = usefulness(torch.tensor([calls]), future_return)
    torch.testing.assert_close(found, torch.tensor([useful]))


def test_the_size_of_a_return_does_not_matter():
    calls = torch.rand(5, 4) * 2 - 1
    assert torch.equal(usefulness(calls, torch.full((5, 1), 1e-9)), usefulness(calls, torch.ones(5, 1)))


def test_expected_usefulness_is_the_mean_over_many_futures():
    torch.manual_seed(0)
    calls = torch.rand(3, 6) * 2 - 1
    chance = torch.tensor([[0.1], [0.5], [0.83]])
    futures = 40_000
    rises = torch.rand(futures, 3, 1) < chance
    labels = usefulness(calls.repeat(futures, 1), rises.float().view(-1, 1) - 0.5)
    means = labels.view(futures, 3, 6).mean(0)
    torch.testing.assert_close(means, expected_usefulness(calls, chance), rtol=0, atol=0.01)


def test_the_optimum_by_hand():
    """One call of full strength: it is useful with the chance that it is right, so that is its entropy."""
    optimum = known_optimum(torch.tensor([[1.0], [-1.0]]), torch.tensor([[0.9], [0.9]]))
    assert optimum.best_bce == pytest.approx(0.3250830, abs=1e-7)  # -0.9·log 0.9 - 0.1·log 0.1
    assert optimum.blind_bce == pytest.approx(0.6931472, abs=1e-7)
    assert optimum.best_accuracy == pytest.approx(0.9)


def test_what_is_certain_has_no_entropy():
    assert binary_entropy(torch.tensor([0.0, 1.0])).tolist() == [0.0, 0.0]
    optimum = known_optimum(torch.tensor([[1.0, 0.0, -1.0]]), torch.ones(1, 1))
    assert (optimum.best_bce, optimum.best_accuracy) == (0, 1)
    half = known_optimum(torch.tensor([[1.0, 0.5]]), torch.ones(1, 1))  # a label of 0.5 is met by no logit
    assert half.best_bce == pytest.approx(0.6931472 / 2)


@pytest.fixture(scope="module")
def simulated():
    """Return calls, chances of a rise and labels of 200,000 samples, drawn as `known_optimum` supposes."""
    random = torch.Generator().manual_seed(0)
    calls = torch.randn(200_000, 5, generator=random).tanh() * (
        torch.rand(200_000, 5, generator=random) < 0.6
    )
    chance = torch.rand(200_000, 1, generator=random)
    rises = torch.rand(200_000, 1, generator=random) < chance
    return calls, chance, usefulness(calls, rises.float() - 0.5)


@pytest.mark.parametrize("knows", ["chance", "calls alone"])
def test_best_prediction_has_cross_entropy_equal_to_entropy(simulated, knows):
    calls, chance, labels = simulated
    optimum = known_optimum(calls, chance)
    known = chance if knows == "chance" else torch.full_like(chance, 0.5)
    reached = F.binary_cross_entropy(expected_usefulness(calls, known), labels).item()
    assert reached == pytest.approx(optimum.best_bce if knows == "chance" else optimum.blind_bce, abs=2e-3)


def test_any_other_prediction_is_worse(simulated):
    calls, chance, labels = simulated
    best = expected_usefulness(calls, chance)
    optimum = known_optimum(calls, chance).best_bce
    for other in (best * 0.9, best * 0.9 + 0.1, expected_usefulness(calls, (chance + 0.1).clamp(max=1))):
        assert F.binary_cross_entropy(other, labels) > optimum + 3e-3
