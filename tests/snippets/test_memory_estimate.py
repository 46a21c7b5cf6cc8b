"""Memory of training, against numbers that can be counted by hand and against real tensors."""

from functools import partial
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

from examples.cifar_optimizers.model import ResNet18
from examples.cifar_optimizers.optimizers import Lion, muon_for_filters
from snippets.memory_estimate import TrainingMemory, kept_activations, nbytes, training_memory
from tools.read_yaml import read_yaml

FLOAT = 4  # bytes


def make_model():
    """Return a network with 3 × 4 + 4 + 4 × 2 + 2 = 26 weights, and the buffers of a BatchNorm layer."""
    return nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4, affine=False), nn.ReLU(), nn.Linear(4, 2))


BUFFERS = 4 * FLOAT + 4 * FLOAT + 8  # running mean, running variance, the number of batches as int64

STATES = {  # optimizer: numbers per weight, and further bytes per parameter tensor
    "SGD": (partial(torch.optim.SGD, lr=0.1), 0, 0),
    "SGD with momentum": (partial(torch.optim.SGD, lr=0.1, momentum=0.9), 1, 0),
    "Adam": (partial(torch.optim.Adam, lr=0.1), 2, FLOAT),  # it counts its steps in a tensor
    "AdamW": (partial(torch.optim.AdamW, lr=0.1), 2, FLOAT),
    "Adam with amsgrad": (partial(torch.optim.Adam, lr=0.1, amsgrad=True), 3, FLOAT),
    "RMSprop": (partial(torch.optim.RMSprop, lr=0.1), 1, FLOAT),
}


@pytest.mark.parametrize("name", STATES)
def test_bytes_are_those_that_can_be_counted(name):
    make, per_weight, per_tensor = STATES[name]
    found = training_memory(make_model(), lambda model: [make(model.parameters())])
    assert found.weights == 26 * FLOAT + BUFFERS
    assert found.gradients == 26 * FLOAT
    assert found.optimizer_states == 26 * FLOAT * per_weight + 4 * per_tensor
    assert found.total == found.weights + found.gradients + found.optimizer_states


@pytest.mark.parametrize("name", STATES)
def test_bytes_are_those_of_real_training(name):
    make, *_ = STATES[name]
    model = make_model()
    expected = training_memory(model, lambda model: [make(model.parameters())])
    optimizer = make(model.parameters())
    model(torch.randn(8, 3)).sum().backward()
    optimizer.step()
    assert expected.gradients == nbytes(parameter.grad for parameter in model.parameters())
    states = [value for state in optimizer.state.values() for value in state.values()]
    assert expected.optimizer_states == nbytes(value for value in states if torch.is_tensor(value))


def test_the_model_itself_is_not_touched():
    model = make_model()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    training_memory(model, lambda model: [torch.optim.Adam(model.parameters())])
    assert all(parameter.grad is None for parameter in model.parameters())
    assert all(parameter.device.type == "cpu" for parameter in model.parameters())
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())


def test_frozen_weights_need_neither_gradient_nor_state():
    model = make_model()
    model[0].requires_grad_(False)
    trained = (parameter for parameter in model.parameters() if parameter.requires_grad)
    found = training_memory(
        model, lambda model: [torch.optim.Adam([p for p in model.parameters() if p.requires_grad])]
    )
    assert found.gradients == nbytes(trained) == 10 * FLOAT
    assert found.optimizer_states == 2 * 10 * FLOAT + 2 * FLOAT


def test_half_precision_and_shared_weights_are_counted_right():
    model = nn.Sequential(nn.Linear(6, 6, bias=False), nn.Linear(6, 6, bias=False)).to(torch.bfloat16)
    model[1].weight = model[0].weight
    found = training_memory(model, lambda model: [torch.optim.SGD(model.parameters(), lr=1.0, momentum=0.9)])
    assert found == TrainingMemory(weights=72, gradients=72, optimizer_states=72)


def test_the_line_is_in_megabytes():
    found = TrainingMemory(weights=44_700_000, gradients=44_700_000, optimizer_states=89_400_000)
    assert str(found) == "weights 44.7 MB, gradients 44.7 MB, optimizer 89.4 MB, total 178.8 MB"


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_activations_that_are_kept_for_the_backward_pass(device):
    """A linear layer keeps its input, ReLU its output, which is the input of the next layer: stored once."""
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)).to(device)
    inputs = torch.ones(10, 3, device=device)
    expected = 10 * (3 + 4) * FLOAT
    assert kept_activations(model, lambda: model(inputs)) == expected


def test_activations_grow_with_the_batch_and_weights_do_not():
    model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Conv2d(8, 8, 3)).to("meta")

    def kept(size):
        return kept_activations(model, lambda: model(torch.ones(size, 3, 16, 16, device="meta")))

    fixed = 2 * kept(4) - kept(8)  # BatchNorm keeps mean and deviation of the batch, and its two buffers
    assert fixed == 4 * 8 * FLOAT
    assert kept(16) - fixed == 4 * (kept(4) - fixed)


def test_without_gradients_nothing_is_kept():
    model = make_model().eval()
    with torch.no_grad():
        assert kept_activations(model, lambda: F.softmax(model(torch.ones(4, 3)), 1)) == 0


# ---- The tables on the page about memory ----


def recorded():
    path = Path(__file__).resolve().parents[2] / "docs/data/results/training_memory.yaml"
    return read_yaml(path)


OPTIMIZERS = {  # several where the table says that they need equally much
    "sgd": [partial(torch.optim.SGD, lr=0.1)],
    "momentum": [partial(torch.optim.SGD, lr=0.1, momentum=0.9)],
    "lion": [partial(Lion, lr=1e-4)],
    "adam": [torch.optim.Adam, torch.optim.AdamW, torch.optim.RAdam],
}


@pytest.mark.parametrize("row", recorded()["optimizers"], ids=lambda row: row["make"])
def test_table_of_optimizers(row):
    data, model = recorded(), ResNet18(10).to("meta")
    if row["make"] == "muon":
        makers = [lambda model: muon_for_filters(model, lr=0.02, weight_decay=0.0)]
    else:
        makers = [lambda model, make=make: [make(model.parameters())] for make in OPTIMIZERS[row["make"]]]
    for make in makers:
        found = training_memory(model, make)
        assert found == TrainingMemory(data["weights"], data["gradients"], row["states"])


@pytest.mark.parametrize("row", recorded()["batches"], ids=lambda row: row["size"])
def test_table_of_batch_sizes(row):
    model = ResNet18(10).to("meta")
    images = torch.empty(row["size"], 3, 32, 32, device="meta")
    labels = torch.empty(row["size"], dtype=torch.int64, device="meta")
    assert kept_activations(model, lambda: F.cross_entropy(model(images), labels)) == row["kept_bytes"]


def test_attention_without_fused_kernel_has_scores_in_float32():
    heads, length, width = 2, 64, 4
    inputs = [
        torch.randn(1, heads, length, width, dtype=torch.bfloat16, requires_grad=True) for _ in range(3)
    ]
    with sdpa_kernel(SDPBackend.MATH):
        kept = kept_activations(
            nn.Identity(), partial(F.scaled_dot_product_attention, *inputs, is_causal=True)
        )
    assert kept == heads * length**2 * FLOAT + 3 * heads * length * width * FLOAT
