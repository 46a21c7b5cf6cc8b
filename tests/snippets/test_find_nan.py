"""Where NaN begins: in a layer, in the loss function, or in the backward pass."""

import pytest
import torch
from torch import nn

from snippets.errors import RunError
from snippets.find_nan import hunt_nan, stop_at_first_nan

pytestmark = pytest.mark.filterwarnings(
    "ignore:.*[Aa]nomaly:UserWarning", "ignore:Error detected:UserWarning"
)


class Function(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, values):
        return self.function(values)


def network(function):
    torch.manual_seed(0)
    inner = nn.Sequential(nn.Linear(4, 6), Function(function))
    return nn.Sequential(nn.Linear(4, 4), inner, nn.Linear(6, 1))


BATCH = torch.ones(5, 4)


def hunt(model, loss=lambda outputs: outputs.mean()):
    return hunt_nan(model, lambda: loss(model(BATCH)))


def test_layer_that_makes_infinity_is_named_with_input():
    """exp(100·x) overflows float32 for some values; the container that holds the layer is not blamed."""
    model = network(lambda values: (100 * (values + 5)).exp())
    found = hunt(model)
    assert found.startswith("30 of 30 values that 1.1 (Function) returns are NaN or infinite")
    with torch.no_grad():
        inputs = model[1][0](model[0](BATCH))
    assert found.endswith(f"largest value that went in: {inputs.abs().max():.3g}")
    with pytest.raises(RunError, match=r"1\.1 \(Function\)"), stop_at_first_nan(model):
        model(BATCH)
    assert all(not module._forward_hooks for module in model.modules())


def test_a_spoiled_weight_is_named():
    model = network(torch.tanh)
    with torch.no_grad():
        model[1][0].weight[2, 3] = torch.nan
    assert (
        hunt(model) == "5 of 30 values that 1.0 (Linear) returns are NaN or infinite; spoiled before: weight"
    )


def test_a_spoiled_batch_is_named():
    model = network(torch.tanh)
    batch = torch.full((5, 4), torch.inf)
    found = hunt_nan(model, lambda: model(batch).mean())
    assert "that 0 (Linear) returns" in found and found.endswith("spoiled before: input[0]")


def test_loss_function_is_blamed_when_layers_are_finite():
    found = hunt(network(torch.tanh), lambda outputs: (outputs * 0).log().mean())
    assert found == "every layer is finite, the loss is -inf: look at the loss function"


def test_a_gradient_of_nan_is_traced_to_its_operation():
    """The root of 0 is 0, its slope is infinite, and infinity times the gradient 0 is NaN."""
    found = hunt(network(torch.tanh), lambda outputs: (outputs * 0).sqrt().sum() * 0)
    assert found.startswith(
        "the forward pass is finite; backward: Function 'SqrtBackward0' returned nan values"
    )


def test_an_infinite_gradient_is_found_at_the_end():
    """The slope of the root at 0 again, without the factor 0 that makes NaN of it."""
    found = hunt(nn.Linear(4, 1), lambda outputs: (outputs - outputs.detach()).sqrt().sum())
    assert (
        found
        == "the gradient of weight is infinite, the loss is not: look for a root, a power or a quotient at 0"
    )


def test_finite_network_passes_and_other_errors_propagate():
    assert hunt(network(torch.tanh)) == "no NaN and no infinity in this forward and backward pass"
    with pytest.raises(RuntimeError, match="shapes"):
        hunt_nan(network(torch.tanh), lambda: network(torch.tanh)(torch.ones(5, 3)).mean())
