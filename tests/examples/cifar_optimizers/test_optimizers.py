"""Every optimizer against its formula, worked out by hand."""

import math

import pytest
import torch

from examples.cifar_optimizers.model import ResNet18
from examples.cifar_optimizers.optimizers import OPTIMIZERS, Lion, make_schedule
from snippets.errors import UsageError


class Weight(torch.nn.Module):
    """A model of one weight vector, whose gradient the test sets."""

    def __init__(self, *values):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.tensor(values))


def step(optimizers, weight, *gradient):
    weight.grad = torch.tensor(gradient)
    for optimizer in optimizers:
        optimizer.step()
    return weight.tolist()


def test_defaults_are_those_of_the_table():
    table = {name: (recipe.lr, recipe.weight_decay) for name, recipe in OPTIMIZERS.items()}
    assert table == {
        "sgd": (0.1, 5e-4),
        "adam": (1e-3, 0.0),
        "adamw": (1e-3, 0.01),
        "radam": (1e-3, 1e-3),
        "lion": (1e-4, 0.01),
        "muon": (0.02, 0.0),
    }


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_learning_rate_and_decay_arrive(name):
    optimizers = OPTIMIZERS[name].build(ResNet18(10, 2), 0.125, 0.25)
    assert optimizers[0].defaults["lr"] == 0.125
    assert optimizers[0].defaults["weight_decay"] == 0.25


def test_sgd_momentum_two_steps_by_hand():
    model = Weight(1.0)
    sgd = OPTIMIZERS["sgd"].build(model, 0.1, 0.5)
    # step 1: g = 2 + 0.5·1 = 2.5, v = 2.5, w = 1 - 0.25 = 0.75
    assert step(sgd, model.weight, 2.0) == pytest.approx([0.75])
    # step 2: g = -1 + 0.5·0.75 = -0.625, v = 0.9·2.5 - 0.625 = 1.625, w = 0.75 - 0.1625 = 0.5875
    assert step(sgd, model.weight, -1.0) == pytest.approx([0.5875])


def test_the_first_adam_step_is_lr_times_sign():
    model = Weight(1.0, 1.0, 1.0)
    adam = OPTIMIZERS["adam"].build(model, 0.01, 0.0)
    assert step(adam, model.weight, 1e-3, -50.0, 7.0) == pytest.approx([0.99, 1.01, 0.99], abs=1e-6)


def test_adamw_decay_with_zero_gradient_only_shrinks():
    model = Weight(2.0, -3.0)
    adamw = OPTIMIZERS["adamw"].build(model, 0.1, 0.5)
    factor = 1 - 0.1 * 0.5
    assert step(adamw, model.weight, 0.0, 0.0) == pytest.approx([2 * factor, -3 * factor])


def test_adam_with_decay_moves_by_lr_even_without_gradient():
    """Its decay is part of the gradient, so it is normalised away: the reason why its default is 0."""
    model = Weight(2.0)
    adam = OPTIMIZERS["adam"].build(model, 0.1, 0.5)
    assert step(adam, model.weight, 0.0) == pytest.approx([1.9], abs=1e-5)


def test_radam_is_unrectified_for_five_steps():
    """While ρ_t ≤ 5, a step is lr times the bias-corrected mean gradient; with β2 = 0.999, ρ_5 < 5 < ρ_6."""
    rho_infinity = 2 / (1 - 0.999) - 1

    def rho(t):
        return rho_infinity - 2 * t * 0.999**t / (1 - 0.999**t)

    assert rho(5) <= 5 < rho(6)
    model = Weight(0.0)
    radam = OPTIMIZERS["radam"].build(model, 0.1, 0.0)
    weight = mean = 0.0
    for t, gradient in enumerate([2.0, -4.0, 8.0, 16.0, -1.0], 1):
        mean = 0.9 * mean + 0.1 * gradient
        weight -= 0.1 * mean / (1 - 0.9**t)
        assert step(radam, model.weight, gradient) == pytest.approx([weight], abs=1e-6)
    mean = 0.9 * mean + 0.1 * 3.0
    unrectified = weight - 0.1 * mean / (1 - 0.9**6)
    assert step(radam, model.weight, 3.0) != pytest.approx([unrectified], abs=1e-4)


def test_lion_equals_its_formula_over_several_steps():
    lr, decay, beta1, beta2 = 0.01, 0.1, 0.9, 0.99
    model = Weight(1.0, -2.0, 0.5, 0.0)
    lion = Lion(model.parameters(), lr=lr, weight_decay=decay)
    weights, momenta = [1.0, -2.0, 0.5, 0.0], [0.0] * 4
    generator = torch.Generator().manual_seed(0)
    for _ in range(12):
        gradient = torch.randn(4, generator=generator)
        gradient[3] = 0.0
        for index, g in enumerate(gradient.tolist()):
            mixed = beta1 * momenta[index] + (1 - beta1) * g
            sign = math.copysign(1, mixed) if mixed else 0.0
            weights[index] = weights[index] * (1 - lr * decay) - lr * sign
            momenta[index] = beta2 * momenta[index] + (1 - beta2) * g
        assert step([lion], model.weight, *gradient.tolist()) == pytest.approx(weights, abs=1e-6)


def test_lion_leaves_weights_without_gradient():
    model = Weight(1.0)
    Lion(model.parameters(), lr=0.1, weight_decay=0.5).step()
    assert model.weight.tolist() == [1.0]


class Convolution(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.convolution = torch.nn.Conv2d(3, 8, 3)
        self.head = torch.nn.Linear(8, 4)


def with_gradients(model, seed=0):
    generator = torch.Generator().manual_seed(seed)
    for parameter in model.parameters():
        parameter.grad = torch.randn(parameter.shape, generator=generator)


def test_muon_takes_filters_and_adamw_the_rest():
    model = ResNet18(10, 2)
    muon, adamw = OPTIMIZERS["muon"].build(model, 0.02, 0.0)
    assert isinstance(muon, torch.optim.Muon)
    assert isinstance(adamw, torch.optim.AdamW)
    matrices = muon.param_groups[0]["params"]
    filters = [parameter for parameter in model.parameters() if parameter.ndim == 4]
    assert [matrix.shape for matrix in matrices] == [(f.shape[0], f[0].numel()) for f in filters]
    assert [matrix.data_ptr() for matrix in matrices] == [f.data_ptr() for f in filters]  # the same memory
    others = {id(parameter) for parameter in model.parameters()} - {id(f) for f in filters}
    assert {id(parameter) for parameter in adamw.param_groups[0]["params"]} == others
    assert adamw.defaults["lr"] == 1e-3


def test_muon_equals_torchs_own_on_the_flattened_matrix():
    torch.manual_seed(0)
    model = Convolution()
    matrix = torch.nn.Parameter(model.convolution.weight.detach().flatten(1).clone())
    reference = torch.optim.Muon([matrix], lr=0.02, weight_decay=0.1)
    muon, _ = OPTIMIZERS["muon"].build(model, 0.02, 0.1)
    for seed in range(3):
        with_gradients(model, seed)
        matrix.grad = model.convolution.weight.grad.flatten(1).clone()
        muon.step()
        reference.step()
        assert torch.equal(model.convolution.weight.flatten(1), matrix)


def test_a_muon_step_is_nearly_orthogonal():
    """Five Newton-Schulz steps bring all singular values near 1; the step is lr times that."""
    torch.manual_seed(0)
    model = Convolution()
    before = model.convolution.weight.detach().clone()
    with_gradients(model)
    OPTIMIZERS["muon"].build(model, 0.02, 0.0)[0].step()
    values = torch.linalg.svdvals((before - model.convolution.weight.detach()).flatten(1) / 0.02)
    assert values.min() > 0.5
    assert values.max() < 1.5


def test_muon_keeps_no_gradients_alive():
    model = Convolution()
    muon, _ = OPTIMIZERS["muon"].build(model, 0.02, 0.0)
    with_gradients(model)
    muon.step()
    assert all(matrix.grad is None for matrix in muon.param_groups[0]["params"])


def test_missing_muon_is_a_clear_error(monkeypatch):
    monkeypatch.delattr(torch.optim, "Muon")
    with pytest.raises(UsageError, match=r"--optimizer muon: PyTorch .* has no torch\.optim\.Muon"):
        OPTIMIZERS["muon"].build(Convolution(), 0.02, 0.0)


@pytest.mark.parametrize(("name", "expected"), [("cosine", [1, 0.75, 0.25, 0]), ("constant", [1, 1, 1, 1])])
def test_schedules(name, expected):
    model = Weight(1.0)
    optimizer = torch.optim.SGD(model.parameters(), lr=2.0)
    schedule = make_schedule(optimizer, name, total_steps=3)
    rates = []
    for _ in range(4):
        rates.append(optimizer.param_groups[0]["lr"] / 2)
        step([optimizer], model.weight, 0.0)
        schedule.step()
    assert rates == pytest.approx(expected, abs=1e-12)
