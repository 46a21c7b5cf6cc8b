"""The network: its size, its layer, that it sees a set, and how it normalises what it reads."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from examples.indicator_transformer.model import (
    FAR,
    SIZES,
    IndicatorTransformer,
    Layer,
    Size,
)

TINY = Size(width=16, layers=2, heads=4, dropout=0.0)


def readings(indicators=7, context=10, rows=5, seed=0):
    """Return values (rows, indicators) and context (rows, context), none of them normalised."""
    random = torch.Generator().manual_seed(seed)
    values = 3 * torch.randn(rows, indicators, generator=random) + torch.arange(indicators)
    return values, 2 * torch.randn(rows, context, generator=random) - 1


@pytest.fixture
def model():
    torch.manual_seed(0)
    return IndicatorTransformer(7, 10, TINY).eval()


def test_the_position_table_is_never_read(model):
    logits, weights = model(*readings())
    (logits.sum() + weights.square().sum()).backward()
    without = [name for name, parameter in model.named_parameters() if parameter.grad is None]
    assert without == ["unused_positions.weight"]


def test_layer_applies_norms_in_the_order_of_guide():
    """Computed again with PyTorch's own attention: LN(x + attention(x)), then x + LN(MLP(x))."""
    torch.manual_seed(1)
    layer = Layer(TINY).double().eval()
    for norm in (layer.attention_norm, layer.mlp_norm):
        nn.init.normal_(norm.weight)  # as it is after learning; a fresh norm hides a wrong order
        nn.init.normal_(norm.bias)
    attention = nn.MultiheadAttention(TINY.width, TINY.heads, batch_first=True).double()
    attention.in_proj_weight.data = layer.queries_keys_values.weight.data
    attention.in_proj_bias.data = layer.queries_keys_values.bias.data
    attention.out_proj.weight.data = layer.merge.weight.data
    attention.out_proj.bias.data = layer.merge.bias.data
    x = torch.randn(3, 6, TINY.width, dtype=torch.float64)

    def norm(module, y):
        mean, variance = y.mean(-1, keepdim=True), y.var(-1, unbiased=False, keepdim=True)
        return (y - mean) / (variance + module.eps).sqrt() * module.weight + module.bias

    first = norm(layer.attention_norm, x + attention(x, x, x, need_weights=False)[0])
    hidden = F.gelu(F.linear(first, layer.mlp[0].weight, layer.mlp[0].bias))
    expected = first + norm(layer.mlp_norm, F.linear(hidden, layer.mlp[3].weight, layer.mlp[3].bias))
    assert hidden.shape[-1] == 4 * TINY.width
    torch.testing.assert_close(layer(x), expected, rtol=0, atol=1e-12)


def test_dropout_acts_in_both_halves_during_training_only():
    torch.manual_seed(0)
    layer = Layer(Size(16, 1, 4, 0.5))
    x = torch.randn(2, 5, 16)
    assert not torch.equal(layer.attention(x), layer.attention(x))
    assert not torch.equal(layer.mlp(x), layer.mlp(x))
    layer.eval()
    assert torch.equal(layer(x), layer(x))
    assert all(SIZES[name].dropout == 0.1 for name in ("origin", "medium", "large"))  # the guide's


def test_the_indicators_are_a_set(model):
    """Permuted together, identities, readings and statistics give permuted results: no position matters."""
    values, context = readings()
    model.fit_normaliser(*readings(rows=50))
    order = torch.tensor([4, 2, 6, 0, 1, 5, 3])
    expected = [part[:, order] for part in model(values, context)]
    model.identity.weight.data = model.identity.weight.data[order]
    model.value_mean, model.value_std = model.value_mean[order], model.value_std[order]
    for found, wanted in zip(model(values[:, order], context), expected, strict=True):
        torch.testing.assert_close(found, wanted, rtol=0, atol=2e-6)


def test_every_indicator_sees_all_readings_and_the_context(model):
    values, context = (part.requires_grad_() for part in readings(rows=1))
    for part in model(values, context):
        for token in (0, 6):
            for seen in torch.autograd.grad(part[0, token], (values, context), retain_graph=True):
                assert (seen != 0).all()


def test_the_rows_of_a_batch_do_not_mix(model):
    values, context = readings()
    together = model(values, context)
    alone = model(values[2:3], context[2:3])
    for whole, part in zip(together, alone, strict=True):
        torch.testing.assert_close(whole[2:3], part, rtol=0, atol=1e-6)


def test_shapes_and_weights(model):
    logits, weights = model(*readings())
    assert logits.shape == weights.shape == (5, 7)
    assert (weights > 0).all()
    torch.testing.assert_close(weights.sum(1), torch.ones(5))


def test_in_16_bits_the_results_are_still_float32(model):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        inside = model(*readings())
    for part, exact in zip(inside, model(*readings()), strict=True):
        assert part.dtype == torch.float32
        torch.testing.assert_close(part, exact, rtol=0, atol=0.03)
    torch.testing.assert_close(inside[1].sum(1), torch.ones(5))


# ---- The normaliser ----


def test_the_normaliser_is_mean_and_standard_deviation(model):
    values, context = readings(rows=200)
    model.fit_normaliser(values, context)
    torch.testing.assert_close(model.value_mean, values.mean(0))
    torch.testing.assert_close(model.value_std, values.std(0, correction=0))
    torch.testing.assert_close(model.context_mean, context.mean(0))
    torch.testing.assert_close(model.context_std, context.std(0, correction=0))
    plain = IndicatorTransformer(7, 10, TINY).eval()  # its normaliser changes nothing yet
    plain.load_state_dict(
        model.state_dict()
        | {name: buffer for name, buffer in plain.state_dict().items() if name.endswith(("_mean", "_std"))}
    )
    assert (plain.value_mean == 0).all() and (plain.value_std == 1).all()
    normalised = ((part - part.mean(0)) / part.std(0, correction=0) for part in (values, context))
    for found, wanted in zip(model(values, context), plain(*normalised), strict=True):
        torch.testing.assert_close(found, wanted, rtol=0, atol=5e-6)


def test_the_normaliser_is_saved_and_not_learned(model):
    names = {"value_mean", "value_std", "context_mean", "context_std"}
    assert names == {name for name, _ in model.named_buffers()}
    assert names <= model.state_dict().keys()
    assert not names & {name for name, _ in model.named_parameters()}


@pytest.mark.parametrize("constant", [0.0, 0.1, -7.3, 1e-6])
def test_readings_that_never_change_keep_their_size(model, constant):
    values, context = readings(rows=999)
    values[:, 3], context[:, 5] = constant, constant
    model.fit_normaliser(values, context)
    assert model.value_std[3] == model.context_std[5] == 1
    assert model.value_mean[3] == pytest.approx(constant)
    assert all(part.isfinite().all() for part in model(values, context))


def test_one_sample_can_be_fitted(model):
    """Its deviation from its mean is 0."""
    model.fit_normaliser(*readings(rows=1))
    assert (model.value_std == 1).all() and (model.context_std == 1).all()


def test_wild_readings_count_as_far_ones(model):
    values, context = readings(rows=100)
    model.fit_normaliser(values, context)
    far = model.value_mean + FAR * model.value_std, model.context_mean + FAR * model.context_std
    wild = torch.full((1, 7), 1e30), torch.full((1, 10), 1e30)
    for found, wanted in zip(model(*wild), model(*(part.unsqueeze(0) for part in far)), strict=True):
        torch.testing.assert_close(found, wanted, rtol=0, atol=1e-5)
