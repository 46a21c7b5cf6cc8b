"""The three terms of the loss, and the probability at which it is smallest."""

import math

import pytest
import torch

from examples.indicator_transformer.loss import SPARSITY, WEIGHTING, best_probability, selection_loss


def test_the_terms_by_hand():
    """Two samples of two indicators, every number worked out."""
    probabilities = [[0.5, 0.8], [0.2, 0.9]]
    weights = [[0.25, 0.75], [0.6, 0.4]]
    usefulness = [[1.0, 0.5], [0.0, 0.3]]
    pairs = [
        (p, u) for ps, us in zip(probabilities, usefulness, strict=True) for p, u in zip(ps, us, strict=True)
    ]
    bce = sum(-u * math.log(p) - (1 - u) * math.log(1 - p) for p, u in pairs) / 4
    wanted = [[0.5 / 0.9, 0.4 / 0.9], [0.0, 1.0]]  # usefulness × probability, scaled to the sum 1
    mse = sum((weights[i][j] - wanted[i][j]) ** 2 for i in range(2) for j in range(2)) / 4
    sparsity = (0.5 + 0.8 + 0.2 + 0.9) / 4
    logits = torch.tensor(probabilities, dtype=torch.float64).logit()
    loss, cross_entropy = selection_loss(
        logits, torch.tensor(weights, dtype=torch.float64), torch.tensor(usefulness, dtype=torch.float64)
    )
    assert cross_entropy.item() == pytest.approx(bce, rel=1e-12)
    assert loss.item() == pytest.approx(bce + 0.5 * mse + 0.1 * sparsity, rel=1e-12)
    assert (WEIGHTING, SPARSITY) == (0.5, 0.1)  # the guide's


def test_the_weighting_term_does_not_move_the_probabilities():
    """It would make them smaller where the weights are hard to fit."""
    random = torch.Generator().manual_seed(0)
    logits = torch.randn(4, 6, generator=random, requires_grad=True)
    usefulness = torch.rand(4, 6, generator=random)
    near, far = torch.full((4, 6), 1 / 6), torch.rand(4, 6, generator=random)
    gradients = [
        torch.autograd.grad(selection_loss(logits, weights, usefulness)[0], logits)[0]
        for weights in (near, far)
    ]
    assert torch.equal(*gradients)
    weights = near.clone().requires_grad_()
    (moved,) = torch.autograd.grad(selection_loss(logits, weights, usefulness)[0], weights)
    assert (moved != 0).all()


def test_at_the_best_probability_the_gradient_vanishes():
    useful = torch.linspace(0.01, 0.99, 99, dtype=torch.float64).unsqueeze(0)
    best = best_probability(useful)
    assert ((best > 0) & (best < useful)).all()
    uniform = torch.full_like(useful, 1 / 99)

    def gradient(probability):
        logits = probability.logit().requires_grad_()
        return torch.autograd.grad(selection_loss(logits, uniform, useful)[0], logits)[0]

    assert gradient(best).abs().max() < 1e-15
    assert (gradient(best + 1e-3) > 0).all()
    assert (gradient(best - 1e-3) < 0).all()


def test_without_sparsity_the_best_probability_is_the_mean():
    useful = torch.tensor([0.0, 0.2, 1.0])
    assert torch.equal(best_probability(useful, 0), useful)
    torch.testing.assert_close(best_probability(useful.double(), 1e-6), useful.double(), atol=1e-6, rtol=0)
    assert best_probability(torch.tensor([0.0, 1.0])).tolist() == pytest.approx([0, 1])


def test_samples_in_which_nothing_was_useful():
    """Nothing can be scaled to the sum 1 there; the loss stays a number, and so do its gradients."""
    logits = torch.zeros(2, 3, requires_grad=True)
    weights = torch.full((2, 3), 1 / 3, requires_grad=True)
    loss, cross_entropy = selection_loss(logits, weights, torch.zeros(2, 3))
    loss.backward()
    assert cross_entropy.item() == pytest.approx(math.log(2))
    assert loss.item() == pytest.approx(math.log(2) + 0.5 / 9 + 0.1 / 2)
    assert logits.grad.isfinite().all() and weights.grad.isfinite().all()


def test_extreme_logits_give_finite_losses():
    logits = torch.tensor([[1e4, -1e4]], requires_grad=True)
    loss, _ = selection_loss(logits, torch.tensor([[0.5, 0.5]]), torch.tensor([[0.0, 1.0]]))
    loss.backward()
    assert loss.isfinite() and logits.grad.isfinite().all()


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_inside_autocast_the_loss_is_exact(dtype):
    random = torch.Generator().manual_seed(0)
    logits, weights = torch.randn(2, 8, 5, generator=random)
    arguments = (logits, weights.softmax(1), torch.rand(8, 5, generator=random))
    with torch.autocast("cpu", dtype=dtype):
        inside = selection_loss(*arguments)
    for found, exact in zip(inside, selection_loss(*arguments), strict=True):
        assert found.dtype == torch.float32
        assert torch.equal(found, exact)
