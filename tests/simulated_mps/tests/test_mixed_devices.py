"""What a tensor on the CPU gets to hear from operators on the device."""

import pytest
import torch
from simulated_mps import device
from torch import nn
from torch.nn import functional as F

MPS = torch.device("mps")
GRAPH = "Placeholder storage has not been allocated on MPS device!"
METAL = "Passed CPU tensor to MPS op"


@pytest.fixture
def as_release():
    """Return what chooses a release; the own one comes back afterwards."""
    yield device.enable
    device.enable(None)


def message(call):
    """Return what `call` raises."""
    with pytest.raises(RuntimeError) as caught:
        call()
    return str(caught.value)


@pytest.mark.parametrize("trains", [True, False])
def test_linear_layers_name_the_argument(trains):
    numbers, layer = torch.ones(2, 3), nn.Linear(3, 2)
    text = "Tensor for argument {} is on cpu but expected on mps"
    with torch.set_grad_enabled(trains):
        assert message(lambda: layer(numbers.to(MPS))) == text.format("weight")
        assert message(lambda: F.linear(numbers.to(MPS), numbers.to(MPS), torch.ones(2))) == text.format(
            "bias"
        )
        layer.to(MPS)
        assert message(lambda: layer(numbers)) == text.format("input")
        assert layer(numbers.to(MPS)).requires_grad == trains


@pytest.mark.parametrize(("release", "text"), [("2.9", GRAPH), ("2.13", GRAPH), ("2.14", METAL)])
def test_embeddings_want_indices_on_the_device(as_release, release, text):
    as_release(release)
    layer = nn.Embedding(3, 2)
    assert message(lambda: layer(torch.tensor([1], device=MPS))) == text
    layer.to(MPS)
    assert message(lambda: layer(torch.tensor([1]))) == text
    assert layer(torch.tensor([1], device=MPS)).shape == (1, 2)


@pytest.mark.parametrize(("release", "text"), [("2.13", GRAPH), ("2.14", GRAPH), ("2.15", METAL)])
def test_losses_want_labels_on_the_device(as_release, release, text):
    as_release(release)
    outputs, labels = torch.zeros(2, 3, device=MPS), torch.tensor([0, 1])
    assert message(lambda: F.cross_entropy(outputs, labels)) == text
    assert F.cross_entropy(outputs, labels.to(MPS)).item() == pytest.approx(torch.tensor(3.0).log().item())


def test_attention_names_the_devices():
    query = torch.ones(1, 1, 4, 8, device=MPS)
    text = message(lambda: F.scaled_dot_product_attention(query, query.cpu(), query))
    assert text.startswith("Expected query, key, and value to have the same device type")


def test_other_operators_name_two_devices():
    ones = torch.ones(2, 2)
    for call in (
        lambda: ones.to(MPS) + ones,
        lambda: ones @ ones.to(MPS),
        lambda: torch.cat([ones, ones.to(MPS)]),
    ):
        assert "found at least two devices, mps:0 and cpu!" in message(call)
