"""A compiled network is used only where it works and is right; and trying it leaves no trace."""

import copy
import random
import shutil

import numpy
import pytest
import torch
from torch import nn
from torch.torch_version import TorchVersion
from torch.utils._python_dispatch import TorchDispatchMode

from examples.cifar_optimizers.model import ResNet18
from snippets import compile_safely as module
from snippets.compile_safely import compile_or_eager, why_not_compile
from snippets.precision import pick_precision

CPU = torch.device("cpu")
IMAGES, LABELS = torch.randn(16, 6, generator=torch.Generator().manual_seed(1)), torch.arange(16) % 3


def raising(graph, examples):
    """Compile nothing: a backend that is not finished."""
    raise NotImplementedError("no kernel\nfor this operator\n\nYou can ask for it at …")


def failing_when_called(graph, examples):
    """Compile to something that fails only when it runs."""

    def run(*inputs):
        raise RuntimeError("kernel failed")

    return run


def doubling_outputs(graph, examples):
    """Compile to something that returns twice the right values."""
    return lambda *inputs: [2 * output for output in graph(*inputs)]


class DoubledGradient(torch.autograd.Function):
    @staticmethod
    def forward(context, values):
        return values.clone()

    @staticmethod
    def backward(context, gradient):
        return 2 * gradient


def doubling_gradients(graph, examples):
    """Compile to something with the right values and twice the right gradients."""
    return lambda *inputs: [DoubledGradient.apply(output) for output in graph(*inputs)]


class Classifier(nn.Module):
    """A network with what a trial pass changes: batch statistics and random numbers."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        layers = nn.Linear(6, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Dropout(0.2)
        self.layers = nn.Sequential(*layers, nn.Linear(32, 3))

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        return self.layers(images)


@pytest.fixture
def model():
    torch._dynamo.reset()
    return Classifier()


def mean_loss(network):
    return nn.functional.cross_entropy(network(IMAGES), LABELS)


def new_resnet(name):
    """Return a small ResNet before its first step, and its loss in the precision `name`."""
    torch.manual_seed(0)
    precision, model = pick_precision(name, CPU), ResNet18(classes=10, width=8)
    images, labels = torch.randn(32, 3, 16, 16), torch.randint(0, 10, (32,))

    def warm_up(network):
        with precision.autocast():
            return nn.functional.cross_entropy(network(images), labels)

    return model, warm_up


def trained(network, model, steps=5):
    """Return the losses of some steps of training `model` through `network`."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = mean_loss(network)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


@pytest.mark.slow
@pytest.mark.parametrize(("backend", "cuda_graphs"), [("eager", False), ("aot_eager", True)])
def test_what_works_and_is_right_is_used(model, backend, cuda_graphs):
    network, note = compile_or_eager(model, mean_loss, backend, cuda_graphs=cuda_graphs)
    assert network is not model
    assert note.startswith(f"compiled by {backend} into 1 graph, same values (gradients too large or too ")
    assert "; first pass " in note
    assert network(IMAGES).shape == (16, 3)
    assert network.state_dict().keys() == {f"_orig_mod.{name}" for name in model.state_dict()}


@pytest.mark.parametrize(
    ("backend", "reason"),
    [
        (raising, "NotImplementedError: no kernel for this operator"),
        (failing_when_called, "RuntimeError: kernel failed"),
        (doubling_outputs, "wrong values, the "),
        (doubling_gradients, "wrong values, the gradient of layers."),
        ("no_such_backend", "InvalidBackend: Invalid backend: 'no_such_backend'."),
    ],
)
def test_failed_or_wrong_compilation_falls_back_with_reason(model, backend, reason):
    network, note = compile_or_eager(model, mean_loss, backend)
    assert network is model
    assert note.startswith("not compiled: ")
    assert reason in note
    assert "\n" not in note
    assert len(note) < 250


def test_hidden_compiler_failures_are_found(model):
    with torch._dynamo.config.patch(suppress_errors=True):
        network, note = compile_or_eager(model, mean_loss, raising)
        assert torch._dynamo.config.suppress_errors is True
    assert network is model
    assert "no kernel" in note


def test_a_network_that_dynamo_skips_is_not_called_compiled(model):
    model.forward = torch.compiler.disable(model.forward)
    network, note = compile_or_eager(model, mean_loss, "eager")
    assert network is model
    assert note == "not compiled: torch.compile found nothing in the network that it can compile"


@pytest.mark.slow
def test_a_network_in_pieces_says_so(model):
    class InPieces(Classifier):
        def forward(self, images):
            hidden = self.layers[:3](images)
            torch._dynamo.graph_break()
            return self.layers[3:](hidden)

    _, note = compile_or_eager(InPieces(), mean_loss, "eager")
    assert note.startswith("compiled by eager into 2 graphs")


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["aot_eager", raising, doubling_gradients])
def test_the_trial_leaves_no_trace(model, backend):
    random.seed(3), numpy.random.seed(3), torch.manual_seed(3)
    before = copy.deepcopy(model.state_dict())
    numbers = random.getstate(), numpy.random.get_state()[1].tolist(), torch.get_rng_state().tolist()
    compile_or_eager(model, mean_loss, backend)
    assert numbers == (
        random.getstate(),
        numpy.random.get_state()[1].tolist(),
        torch.get_rng_state().tolist(),
    )
    after = model.state_dict()
    assert all(torch.equal(before[name], after[name]) for name in before)
    assert after["layers.1.num_batches_tracked"] == 0
    assert all(weight.grad is None for weight in model.parameters())
    assert model.training
    assert not model._forward_pre_hooks


@pytest.mark.parametrize("backend", ["aot_eager", doubling_outputs])
def test_training_afterwards_is_as_without(model, backend):
    plain = Classifier()
    torch.manual_seed(5)
    expected = trained(plain, plain)
    torch.manual_seed(5)
    network, _ = compile_or_eager(model, mean_loss, backend)
    assert trained(network, model) == pytest.approx(expected, rel=1e-5)
    for name, tensor in model.state_dict().items():
        torch.testing.assert_close(tensor, plain.state_dict()[name], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ["bf16", "fp16"])
def test_the_trial_computes_in_the_precision_of_the_training(model, name):
    precision = pick_precision(name, CPU)

    def in_precision(network):
        with precision.autocast():
            return mean_loss(network)

    network, note = compile_or_eager(model, in_precision, "aot_eager")
    assert network is not model, note
    with precision.autocast():
        assert network(IMAGES).dtype == precision.dtype
    network, note = compile_or_eager(Classifier(), in_precision, doubling_outputs)
    assert "wrong values" in note


def test_comparison_uses_the_dropout_of_compiled_networks():
    class Calls(TorchDispatchMode):
        def __init__(self):
            super().__init__()
            self.names = set()

        def __torch_dispatch__(self, operator, types, args=(), kwargs=None):
            self.names.add(operator.overloadpacket.__name__)
            return operator(*args, **(kwargs or {}))

    with Calls() as usual:
        nn.functional.dropout(IMAGES, 0.5)
    with module.dropout_as_compiled(), Calls() as compared:
        nn.functional.dropout(IMAGES, 0.5)
    assert "native_dropout" not in usual.names
    assert "native_dropout" in compared.names


def test_what_fails_without_compiling_is_raised(model):
    with pytest.raises(RuntimeError, match="mat1 and mat2"):
        compile_or_eager(model, lambda network: network(torch.randn(2, 5)).mean(), "eager")
    assert not model._forward_pre_hooks


def test_a_loss_that_is_nan_decides_nothing(model):
    network, note = compile_or_eager(model, lambda network: network(IMAGES).mean() * torch.nan, "eager")
    assert network is model
    assert note == "not compiled: loss or gradients are NaN or infinite even without compiling"


def test_without_a_finite_yardstick_nothing_is_compiled():
    """Infinity after shaking the weights would allow any difference."""

    class Cliff(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.ones(()))

        def forward(self):
            return torch.where(self.weight == 1, self.weight, self.weight.detach() / 0)

    cliff = Cliff()
    network, note = compile_or_eager(cliff, lambda network: network(), "eager")
    assert network is cliff
    assert note == "not compiled: loss or gradients are NaN or infinite even without compiling"


@pytest.mark.slow
@pytest.mark.unmeasured
@pytest.mark.parametrize("name", ["bf16", pytest.param("fp16", marks=pytest.mark.long)])
def test_wrong_gradients_are_noticed_where_rounding_is_largest(name):
    torch._dynamo.reset()
    model, warm_up = new_resnet(name)
    network, note = compile_or_eager(model, warm_up, doubling_gradients)
    assert network is model
    assert note.startswith("not compiled: wrong values, the gradient of "), note


def test_versions(monkeypatch, model):
    mps = torch.device("mps")
    assert why_not_compile(CPU) is None
    monkeypatch.setattr(torch, "__version__", TorchVersion("2.7.0"))
    assert why_not_compile(mps) is None
    monkeypatch.setattr(torch, "__version__", TorchVersion("2.6.0"))
    assert why_not_compile(mps) == "torch.compile needs PyTorch 2.7 on MPS, and this is 2.6.0"
    assert why_not_compile(CPU) is None
    monkeypatch.setattr(module, "why_not_compile", lambda device: "it is too old")
    assert compile_or_eager(model, mean_loss, "eager") == (model, "not compiled: it is too old")


def test_the_note_says_what_the_compiler_for_mps_is():
    assert module.name_of("inductor", torch.device("mps")) == "inductor (a prototype on MPS)"
    assert module.name_of("inductor", CPU) == "inductor"
    assert module.name_of(raising, CPU) == "raising"


@pytest.mark.parametrize("cuda_graphs", [False, True])
def test_cuda_graphs_are_an_option_of_inductor(model, cuda_graphs):
    options = module.options_for("inductor", cuda_graphs)
    torch.compile(model, options=options)  # refuses unknown options
    assert options.get("triton.cudagraphs", False) is cuda_graphs


needs_a_compiler = pytest.mark.skipif(
    not any(shutil.which(name) for name in ("c++", "g++", "clang++")),
    reason="no C++ compiler: Inductor needs one on the CPU",
)


@pytest.mark.long
@needs_a_compiler
def test_inductor_draws_the_same_random_numbers(model):
    plain = Classifier()
    torch.manual_seed(5)
    expected = trained(plain, plain)
    torch.manual_seed(5)
    network, note = compile_or_eager(model, mean_loss)
    assert note.startswith("compiled by inductor into 1 graph, same values"), note
    assert trained(network, model) == pytest.approx(expected, rel=1e-3)


@pytest.mark.long
@needs_a_compiler
@pytest.mark.parametrize("name", ["fp32", "bf16", "fp16"])
def test_a_right_compilation_is_accepted_where_rounding_is_largest(name):
    """In a ResNet before its first step, rounding changes gradients most: by 25 % in bfloat16."""
    torch._dynamo.reset()
    model, warm_up = new_resnet(name)
    network, note = compile_or_eager(model, warm_up)
    assert network is not model, note
