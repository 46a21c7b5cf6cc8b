"""Rounding is told from wrong values: what shaking the weights does, and which faults are noticed."""

import functools

import pytest
import torch
from torch import nn

from examples.cifar_optimizers.model import ResNet18
from snippets.compile_safely import all_finite, disagreement, percent, shaken, what_was_compared

FORMATS = (torch.float32, torch.bfloat16, torch.float16)


def passes(model, dtype, images, labels, change=None):
    """Return loss and gradients of `model` inside autocast, and the same with shaken weights."""

    def one():
        with torch.autocast("cpu", dtype=dtype, enabled=dtype != torch.float32):
            loss = nn.functional.cross_entropy(model(images), labels)
        names, weights = zip(*model.named_parameters(), strict=True)
        return {"loss": loss.detach(), **dict(zip(names, torch.autograd.grad(loss, weights), strict=True))}

    expected = one()
    with shaken(model, dtype):
        from_shaken = one()
    return expected, from_shaken


@pytest.fixture
def network():
    """Return a classifier whose convolution lacks the bias that batch normalization would cancel."""
    torch.manual_seed(0)
    normalized = [nn.Conv2d(1, 4, 3, bias=False), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten()]
    return nn.Sequential(*normalized, nn.Linear(4 * 36, 3))


@pytest.fixture
def batch():
    torch.manual_seed(1)
    return torch.randn(32, 1, 8, 8), torch.randint(0, 3, (32,))


@pytest.mark.parametrize("dtype", FORMATS)
def test_weights_move_by_their_rounding_and_come_back_exactly(network, dtype):
    before = [weight.clone() for weight in network.parameters()]
    random_state = torch.get_rng_state()
    with shaken(network, dtype):
        amount = 5e-4 if dtype == torch.float32 else 8e-3
        for weight, old in zip(network.parameters(), before, strict=True):
            assert ((weight - old).abs() <= 1.01 * amount * old.abs()).all()
            assert torch.equal(weight, old) == (old == 0).all()
    for weight, old in zip(network.parameters(), before, strict=True):
        assert torch.equal(weight, old)
    assert torch.equal(random_state, torch.get_rng_state())  # dropout draws what it would have drawn


def test_weights_come_back_after_an_error(network):
    before = network[0].weight.clone()
    with pytest.raises(ZeroDivisionError), shaken(network, torch.float32):
        1 / 0  # noqa: B018
    assert torch.equal(network[0].weight, before)


@pytest.mark.parametrize("dtype", FORMATS)
@pytest.mark.parametrize("factor", [0.0, 0.5, 2.0, -1.0, float("nan"), float("inf")])
def test_every_scaled_tensor_is_noticed_and_named(network, batch, dtype, factor):
    expected, from_shaken = passes(network, dtype, *batch)
    assert disagreement(expected, expected, from_shaken, dtype) is None
    for name in expected:
        found = expected | {name: expected[name] * factor}
        assert disagreement(found, expected, from_shaken, dtype).startswith(f"the {name} is off by ")


@pytest.mark.parametrize("dtype", FORMATS)
def test_rounding_is_no_disagreement(network, batch, dtype):
    expected, from_shaken = passes(network, dtype, *batch)
    rounded = {name: tensor.to(dtype).to(tensor.dtype) for name, tensor in expected.items()}
    assert disagreement(rounded, expected, from_shaken, dtype) is None


def test_gradients_that_consist_of_rounding_alone_are_no_disagreement(batch):
    """The gradient of a bias before batch normalization is zero; what is computed is noise."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(144, 3))
    expected, from_shaken = passes(model, torch.float32, *batch)
    assert expected["0.bias"].norm() < 1e-5 * expected["0.weight"].norm()
    found = expected | {"0.bias": -expected["0.bias"]}
    assert disagreement(found, expected, from_shaken, torch.float32) is None


def test_a_gradient_that_is_missing_is_named(network, batch):
    expected, from_shaken = passes(network, torch.float32, *batch)
    found = {name: tensor for name, tensor in expected.items() if name != "1.bias"}
    assert (
        disagreement(found, expected, from_shaken, torch.float32)
        == "the 1.bias exists in only one of the two"
    )


def test_the_worst_tensor_is_named():
    expected = {"loss": torch.tensor(1.0), "a": torch.ones(4), "b": torch.ones(4)}
    found = expected | {"a": torch.full((4,), 1.5), "b": torch.full((4,), 3.0)}
    sentence = disagreement(found, expected, expected, torch.float32)
    assert sentence == "the b is off by 200 % of its size, rounding explains 0.1 %"


@pytest.mark.parametrize(
    ("moved", "found", "sentence"),
    [
        (0.6, [1.8, 0.0], "the a is off by 80 % of its size, rounding explains 70 %"),
        (0.6, [0.0, 0.0], "the a is off by 100 % of its size, rounding explains 70 %"),
        (0.6, [1.6, 0.0], None),
        (0.6, [1.0, 1.5], None),  # at right angles to the gradient, where rounding leads as well
        (0.6, [1.0, 2.0], "the a is off by 200 % of its size, rounding explains 180 %"),
        (0.8, [1.8, 0.0], None),  # a gradient that is mostly rounding
    ],
)
def test_gradient_may_move_less_along_its_direction(moved, found, sentence):
    expected = {"loss": torch.tensor(1.0), "a": torch.tensor([1.0, 0.0])}
    from_shaken = expected | {"a": torch.tensor([1.0, moved])}
    assert (
        disagreement(expected | {"a": torch.tensor(found)}, expected, from_shaken, torch.float32) == sentence
    )


@functools.cache
def passes_of_a_new_resnet(dtype):
    """Return loss and gradients in 16 bits as computed, with shaken weights, and with another rounding.

    Weights changed by half as much as in `shaken` stand for that.
    """
    torch.manual_seed(0)
    model, images, labels = ResNet18(10, width=8), torch.randn(32, 3, 16, 16), torch.randint(0, 10, (32,))
    expected, from_shaken = passes(model, dtype, images, labels)
    with torch.no_grad():
        for weight in model.parameters():
            weight.mul_(1 + 4e-3 * (2 * torch.rand_like(weight) - 1))
    return expected, from_shaken, passes(model, dtype, images, labels)[0]


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("factor", [2.0, 0.0, -1.0])
def test_faults_are_noticed_where_rounding_moves_gradients_by_half(dtype, factor):
    expected, from_shaken, right = passes_of_a_new_resnet(dtype)
    assert "less than 70 %" in what_was_compared(expected, from_shaken)
    assert disagreement(right, expected, from_shaken, dtype) is None
    wrong = {name: tensor * factor for name, tensor in right.items() if name != "loss"}
    assert disagreement(right | wrong, expected, from_shaken, dtype) is not None
    noticed = [
        disagreement(right | {name: tensor}, expected, from_shaken, dtype) is not None
        for name, tensor in wrong.items()
    ]
    assert len(noticed) == 62
    assert sum(noticed) >= 0.8 * len(noticed)


@pytest.mark.parametrize(
    ("moved", "sentence"),
    [
        (
            0.1,
            "same values (gradients too large or too small by less than 6 % would not show)",
        ),  # 3 × 0.1 of 5
        (2.0, "same values (gradients too large or too small by less than 70 % would not show)"),
        (4.0, "same loss (gradients were not compared: rounding alone changes them by 80 %)"),
    ],
)
def test_what_was_compared_is_said(moved, sentence):
    expected = {"loss": torch.tensor(1.0), "a": torch.tensor([3.0, 0.0]), "b": torch.tensor([4.0])}
    from_shaken = {"loss": torch.tensor(9.0), "a": torch.tensor([3.0, moved]), "b": torch.tensor([4.0])}
    assert what_was_compared(expected, from_shaken) == sentence


def test_percent():
    assert percent(1, 3) == "33 %"
    assert percent(1, 30_000) == "0.0033 %"
    assert percent(3, 1) == "300 %"
    assert percent(1, 0) == "more than 100 %"


def test_all_finite():
    assert all_finite({"loss": torch.tensor(1.0)})
    assert not all_finite({"loss": torch.tensor(1.0), "a": torch.tensor([0.0, float("nan")])})
