"""Gradients as PyTorch's C++ records them for kernels that only MPS has: its errors, and the CPU's values."""

from pathlib import Path

import pytest
import torch
from simulated_mps import gradients as gradients_of
from simulated_mps import report
from torch import nn
from torch.autograd import forward_ad
from torch.func import functional_call, grad, hessian, jacfwd, jacrev, jvp, vjp, vmap
from torch.nn import functional as F

MPS = torch.device("mps")


def second_gradient(compute, x):
    """Compute the gradient of a gradient of `compute` by `x`."""
    (first,) = torch.autograd.grad(compute(x).pow(2).sum(), x, create_graph=True)
    first.pow(2).sum().backward()


def gradients(make, shape, place):
    """Return the gradients of a new layer's input and parameters on `place`."""
    torch.manual_seed(0)
    layer, x = make().to(place), torch.randn(shape).to(place).requires_grad_()
    result = layer(x)
    result = result[0] if isinstance(result, tuple) else result
    result.pow(2).sum().backward()
    return [tensor.grad.cpu() for tensor in (x, *layer.parameters())]


@pytest.mark.parametrize(
    ("make", "shape"),
    [
        (lambda: nn.Linear(3, 2), (4, 5, 3)),
        (lambda: nn.Linear(3, 2, bias=False), (3,)),
        (lambda: nn.MaxPool2d(2, 1, padding=1), (2, 1, 4, 4)),
        (lambda: nn.LSTM(3, 4, 2, bidirectional=True), (5, 2, 3)),
        (lambda: nn.LSTM(3, 4, batch_first=True, bias=False), (2, 5, 3)),
    ],
)
def test_gradients_are_those_of_the_cpu(make, shape):
    on_cpu, on_mps = gradients(make, shape, torch.device("cpu")), gradients(make, shape, MPS)
    for expected, found in zip(on_cpu, on_mps, strict=True):
        torch.testing.assert_close(found, expected)


@pytest.mark.parametrize("shapes", [((3,), (3,), ()), ((4, 3), (3,))])
def test_linear_layers_without_a_dimension_for_outputs(shapes):
    found = []
    for place in (torch.device("cpu"), MPS):
        tensors = [torch.ones(shape, device=place).requires_grad_() for shape in shapes]
        F.linear(*tensors).pow(2).sum().backward()
        found.append([tensor.grad.cpu() for tensor in tensors])
    assert all(torch.equal(*pair) for pair in zip(*found, strict=True))


def test_lstm_draws_the_same_dropout_in_both_directions():
    """The numerical gradient of a fixed mask is the one that the backward pass computes."""
    layer = nn.LSTM(2, 3, num_layers=2, dropout=0.5).to(MPS)
    x = torch.randn(4, 1, 2, device=MPS)

    def loss(x):
        torch.mps.manual_seed(1)
        return layer(x)[0].pow(2).sum()

    before = torch.get_rng_state()
    x.requires_grad_()
    loss(x).backward()
    step = torch.zeros_like(x)
    step[1, 0, 1] = 1e-2
    with torch.no_grad():
        slope = (loss(x + step) - loss(x - step)).item() / 2e-2
    assert x.grad[1, 0, 1].item() == pytest.approx(slope, rel=2e-2, abs=1e-4)
    assert torch.equal(before, torch.get_rng_state())  # of the CPU


def test_max_pooling_has_no_second_gradient_on_mps():
    image = torch.randn(1, 1, 4, 4, device=MPS, requires_grad=True)
    with pytest.raises(
        RuntimeError, match="max_pool2d with `return_indices=False` is not infinitely differentiable"
    ):
        second_gradient(lambda x: F.max_pool2d(x, 2), image)
    second_gradient(lambda x: F.max_pool2d(x, 2, return_indices=True)[0], image)
    second_gradient(lambda x: F.max_pool1d(x[0], 2), image)


def test_lstm_has_no_second_gradient_on_mps():
    """As in meta-learning: a step of training inside of the loss."""
    layer, x = nn.LSTM(3, 4).to(MPS), torch.randn(5, 2, 3, device=MPS)
    loss = layer(x)[0].pow(2).mean()
    steps = torch.autograd.grad(loss, list(layer.parameters()), create_graph=True)
    adapted = {
        name: value - 0.1 * step for (name, value), step in zip(layer.named_parameters(), steps, strict=True)
    }
    with pytest.raises(RuntimeError, match="derivative for lstm_mps_backward is not implemented"):
        functional_call(layer, adapted, (x,))[0].pow(2).mean().backward()
    second_gradient(lambda x: nn.GRU(3, 4).to(MPS)(x)[0], x.requires_grad_())


def test_linear_layers_have_a_second_but_no_forward_gradient():
    layer, x = nn.Linear(3, 4).to(MPS), torch.randn(2, 3, device=MPS)
    second_gradient(lambda x: layer(x).tanh(), x.clone().requires_grad_())
    with (
        forward_ad.dual_level(),
        pytest.raises(NotImplementedError, match="Trying to use forward AD with linear that does not"),
    ):
        layer(forward_ad.make_dual(x, x))
    with (
        forward_ad.dual_level(),
        pytest.raises(NotImplementedError, match="Trying to use forward AD with _lstm_mps that does not"),
    ):
        nn.LSTM(3, 4).to(MPS)(forward_ad.make_dual(x, x)[None])


FORWARD = {
    "jvp": lambda compute, x: jvp(compute, (x,), (x,))[1],
    "jacfwd": lambda compute, x: jacfwd(compute)(x),
    "hessian": lambda compute, x: hessian(lambda x: compute(x).sum())(x),
}


@pytest.mark.parametrize("name", FORWARD)
def test_torch_func_has_forward_gradients_of_linear_layers(name):
    """It reaches the parts of the layer, on a Mac as here: the C++ is the same."""
    torch.manual_seed(0)
    layer, x = nn.Linear(3, 4), torch.randn(2, 3)
    expected = FORWARD[name](lambda x: layer(x).tanh(), x)
    layer.to(MPS)
    torch.testing.assert_close(FORWARD[name](lambda x: layer(x).tanh(), x.to(MPS)).cpu(), expected)


def attention(x, mask=None):
    """Return attention of `x` with itself; on the CPU in its parts, for their gradients."""
    if x.device == MPS:
        return F.scaled_dot_product_attention(x, x, x, attn_mask=mask)
    scores = x @ x.transpose(-1, -2) / x.shape[-1] ** 0.5
    return (scores if mask is None else scores.masked_fill(~mask, -torch.inf)).softmax(-1) @ x


TRANSFORMS = {
    "vmap": lambda x: vmap(attention)(x),
    "vmap with mask": lambda x: vmap(attention)(
        x, torch.ones(3, 4, 4, dtype=torch.bool, device=x.device).tril()
    ),
    "grad": lambda x: grad(lambda x: attention(x).sum())(x),
    "vmap of grad": lambda x: vmap(grad(lambda x: attention(x).sum()))(x),
    "jacrev": lambda x: jacrev(attention)(x),
    "jvp": lambda x: jvp(attention, (x,), (x,))[1],
    "vjp": lambda x: vjp(attention, x)[1](x)[0],
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_torch_func_transforms_attention(name):
    torch.manual_seed(0)
    x = torch.randn(3, 2, 4, 8)
    torch.testing.assert_close(TRANSFORMS[name](x.to(MPS)).cpu(), TRANSFORMS[name](x))


def test_torch_func_transforms_a_transformer():
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
    x, found = torch.randn(3, 4, 8), []
    for place in (torch.device("cpu"), MPS):
        layer.to(place)
        parameters = {name: value.detach() for name, value in layer.named_parameters()}
        per_sample = vmap(
            grad(lambda values, x: functional_call(layer, values, (x[None],)).pow(2).sum()),
            in_dims=(None, 0),
        )
        found.append({name: value.cpu() for name, value in per_sample(parameters, x.to(place)).items()})
    torch.testing.assert_close(found[1], found[0], rtol=1e-3, atol=1e-4)


def test_missing_gradients_are_findings_with_their_places():
    image = torch.randn(1, 1, 4, 4, device=MPS, requires_grad=True)
    with pytest.raises(RuntimeError, match="not infinitely differentiable"):
        second_gradient(lambda x: F.max_pool2d(x, 2), image)
    with (
        forward_ad.dual_level(),
        pytest.raises(NotImplementedError, match="Trying to use forward AD with linear") as caught,
    ):
        F.linear(forward_ad.make_dual(image, image), image[0, 0])
    before = counted("aten::linear")
    for _ in range(2):
        gradients_of.note_if_missing(caught.value)
    assert counted("aten::linear") == before + 1  # an error counts once
    gradients_of.note_if_missing(RuntimeError("derivative for sgn_backward is not implemented"))
    found = (found for found in report().findings if found.kind == "gradient")
    (line,) = {found.line for found in found if found.operator == "aten::max_pool2d"}
    assert "backward()" in Path(__file__).read_text().splitlines()[line - 1]


def counted(operator):
    """Return how often the gradient of an operator was missing."""
    found = report().findings.items()
    return sum(count for each, count in found if (each.kind, each.operator) == ("gradient", operator))
