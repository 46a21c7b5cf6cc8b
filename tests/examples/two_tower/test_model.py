"""The two towers: their weights, what a position sees, and the block against a step-by-step loop."""

import math
import warnings

import pytest
import torch
from torch.nn import functional as F

from examples.two_tower import model as module
from examples.two_tower.model import (
    Shape,
    StateSpaceBlock,
    TwoTowers,
    expected_parameters,
    parameter_count,
)
from snippets.selective_scan import selective_scan_reference

ORIGIN = Shape(768, 8, "ssm", 128)
SMALL = Shape(8, 2, state=3)


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def awake(model):
    """Return the model with random last layers: at the beginning they are zeros, and hide the others."""
    for weights in (model.context.leave.weight, model.payload.layers[-1].weight):
        torch.nn.init.normal_(weights, std=0.3)
    return model


@pytest.mark.parametrize(
    ("width_in", "shape"),
    [
        (768, ORIGIN),
        (1024, Shape(128, 2)),
        (32, Shape(8, 1)),
        (5, Shape(17, 3, state=7, expand=3, conv=2)),
        (6, Shape(16, 1, state=1, expand=1, conv=1)),
    ],
)
def test_the_number_of_weights_is_what_the_formula_says(width_in, shape):
    with torch.device("meta"):  # counts without memory
        model = TwoTowers(width_in, shape)
    expected = expected_parameters(width_in, shape)
    assert (parameter_count(model.context), parameter_count(model.payload)) == expected
    assert parameter_count(model) == sum(expected)
    with torch.device("meta"):
        assert parameter_count(TwoTowers(width_in, shape, learned=True)) == sum(expected) + 1


@pytest.mark.parametrize("tower", ["ssm", "gru"])
def test_towers_begin_at_the_identity(tower):
    model = TwoTowers(12, Shape(8, 2, tower, state=3))
    contexts, payloads = torch.randn(6, 5, 12), torch.randn(6, 12)
    found = model(contexts, payloads)
    torch.testing.assert_close(found[0], F.normalize(contexts[:, -1], dim=1))
    torch.testing.assert_close(found[1], F.normalize(payloads, dim=1))
    assert found[2].item() == pytest.approx(1 / 0.07)


@pytest.mark.parametrize("tower", ["ssm", "gru"])
def test_vectors_have_length_1_and_depend_on_every_position(tower):
    model = awake(TwoTowers(12, Shape(8, 2, tower, state=3)))
    contexts = torch.randn(6, 5, 12, requires_grad=True)
    vectors, payloads, _ = model(contexts, torch.randn(6, 12))
    for found in (vectors, payloads):
        torch.testing.assert_close(found.norm(dim=1), torch.ones(6))
    vectors[:, 0].sum().backward()
    assert (contexts.grad.norm(dim=2) > 0).all()


def test_a_position_sees_no_later_one():
    block = StateSpaceBlock(SMALL)
    sequence = torch.randn(2, 9, 8)
    before = block(sequence)
    for changed in range(9):
        other = sequence.clone()
        other[:, changed] += 1
        differs = (block(other) != before).any(2)
        assert not differs[:, :changed].any()
        assert differs[:, changed:].all()  # but every later one sees it


def step_by_step(block, sequence):
    """Return what a block gives for one sequence (positions, width), position by position."""
    weights = dict(block.named_parameters())
    inner, taps = len(weights["skip"]), block.conv.kernel_size[0]
    memory = torch.zeros(inner, block.state, dtype=sequence.dtype)
    entered, outputs = [], []
    for token in sequence:
        root = (token.pow(2).mean() + torch.finfo(token.dtype).eps).sqrt()
        both = weights["enter.weight"] @ (token / root * weights["norm.weight"])
        entered.append(both[:inner])
        convolved = weights["conv.bias"].clone()
        for back in range(min(taps, len(entered))):
            convolved += weights["conv.weight"][:, 0, taps - 1 - back] * entered[-1 - back]
        u = convolved * torch.sigmoid(convolved)
        chosen = weights["choose.weight"] @ u
        rank, write, read = chosen.split([block.dt_rank, block.state, block.state])
        step_size = (1 + (weights["step_size.weight"] @ rank + weights["step_size.bias"]).exp()).log()
        for channel in range(inner):
            for state in range(block.state):
                kept = math.exp(-step_size[channel] * math.exp(weights["log_decay"][channel, state]))
                memory[channel, state] *= kept
                memory[channel, state] += step_size[channel] * u[channel] * write[state]
        found = memory @ read + weights["skip"] * u
        gate = both[inner:] * torch.sigmoid(both[inner:])
        outputs.append(token + weights["leave.weight"] @ (found * gate))
    return torch.stack(outputs)


def test_block_equals_a_step_by_step_loop():
    block, sequence = StateSpaceBlock(SMALL).double(), torch.randn(6, 8, dtype=torch.float64)
    with torch.no_grad():
        torch.testing.assert_close(block(sequence.unsqueeze(0))[0], step_by_step(block, sequence))


def gradients(model, contexts, payloads):
    """Return the gradient of every weight for a loss in which both towers meet."""
    model.zero_grad()
    vectors, others, scale = model(contexts, payloads)
    F.cross_entropy(scale * vectors @ others.T, torch.arange(len(vectors))).backward()
    return {name: weights.grad.clone() for name, weights in model.named_parameters()}


def test_gradients_equal_those_of_the_reference_scan(monkeypatch):
    model = awake(TwoTowers(12, SMALL, learned=True)).double()
    given = torch.randn(4, 5, 12).double(), torch.randn(4, 12).double()
    found = gradients(model, *given)
    monkeypatch.setattr(module, "selective_scan", selective_scan_reference)
    torch.testing.assert_close(found, gradients(model, *given), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("tower", ["ssm", "gru"])
def test_every_weight_learns(tower):
    """Behind the last layers of zeros, they begin with the second step."""
    model = TwoTowers(12, Shape(8, 2, tower, state=3), learned=True).double()
    given = torch.randn(16, 5, 12).double(), torch.randn(16, 12).double()
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    first = gradients(model, *given)
    for name in ("context.leave.weight", "payload.layers.3.weight", "payload.layers.3.bias", "log_scale"):
        assert (first[name] != 0).all(), name
    optimizer.step()
    for name, gradient in gradients(model, *given).items():
        assert (gradient != 0).all(), name


def test_step_sizes_begin_in_their_range():
    steps = F.softplus(StateSpaceBlock(Shape(64, 1)).step_size.bias)
    low, high = module.DT_RANGE
    assert low * 0.999 < steps.min() < 2 * low and high / 2 < steps.max() < high * 1.001


def test_the_temperature_may_be_learned_up_to_a_limit():
    contexts, payloads = torch.randn(4, 5, 12), torch.randn(4, 12)
    assert not any("scale" in name for name, _ in TwoTowers(12, SMALL).named_parameters())
    model = TwoTowers(12, SMALL, 0.5, learned=True)
    assert model(contexts, payloads)[2].item() == pytest.approx(2)
    with torch.no_grad():
        model.log_scale.fill_(9)
    assert model(contexts, payloads)[2] == TwoTowers.MAX_SCALE


def test_dropout_takes_from_inputs_while_learning_only():
    model = TwoTowers(400, SMALL, dropout=0.5)
    contexts, payloads = torch.ones(4, 5, 400), torch.ones(4, 400)
    share = (model(contexts, payloads)[1] == 0).float().mean()
    assert 0.4 < share < 0.6
    torch.testing.assert_close(model.eval()(contexts, payloads)[1], F.normalize(payloads, dim=1))


@pytest.mark.parametrize("tower", ["ssm", "gru"])
def test_sum_of_layers_stays_float32_in_16_bits(tower):
    """So no norm gets numbers of another kind than its weights, about which PyTorch would warn."""
    model = TwoTowers(12, Shape(8, 2, tower, state=3))
    with warnings.catch_warnings(), torch.autocast("cpu", torch.bfloat16):
        warnings.simplefilter("error")
        vectors, _, _ = model(torch.randn(4, 5, 12), torch.randn(4, 12))
    assert vectors.dtype == torch.float32
