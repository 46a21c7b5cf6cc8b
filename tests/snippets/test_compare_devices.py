"""Comparing devices: honest differences pass, wrong ones are caught and named. The device is a second CPU."""

import copy

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from snippets import compare_devices as module
from snippets.compare_devices import compare_devices, summarize
from snippets.errors import RunError, UsageError

DEVICE = torch.device("cpu:0")  # computes like the CPU, but the tests can tell it apart


@pytest.fixture
def on_device(monkeypatch):
    """Return a function that says whether the pass that runs is that of the device."""
    running = [False]
    real = module.one_pass

    def one_pass(*arguments):
        running.append(arguments[4] == DEVICE)
        try:
            return real(*arguments)
        finally:
            running.pop()

    monkeypatch.setattr(module, "one_pass", one_pass)
    return lambda: running[-1]


def batches(count=3, size=4, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return [
        (torch.randn(size, 3, 8, 8, generator=generator), torch.randint(5, (size,), generator=generator))
        for _ in range(count)
    ]


def network(seed=0):
    torch.manual_seed(seed)
    return nn.Sequential(
        nn.Conv2d(3, 6, 3), nn.BatchNorm2d(6), nn.ReLU(), nn.Dropout(), nn.Flatten(), nn.Linear(216, 5)
    )


class Broken(nn.Module):
    """Applies `wrong` on the device, and `right` elsewhere."""

    def __init__(self, on_device, right, wrong):
        super().__init__()
        self.on_device, self.right, self.wrong = on_device, right, wrong

    def forward(self, values):
        return (self.wrong if self.on_device() else self.right)(values)

    def __deepcopy__(self, memo):
        return Broken(self.on_device, self.right, self.wrong)


class WrongGradient(torch.autograd.Function):
    """The identity, with a gradient that is 1 % too large."""

    @staticmethod
    def forward(context, values):
        return values.clone()

    @staticmethod
    def backward(context, gradient):
        return 1.01 * gradient


def test_equal_device_agrees_and_model_is_unchanged():
    model = network()
    before, states = copy.deepcopy(model), torch.get_rng_state()
    comparison = compare_devices(model, batches(), F.cross_entropy, DEVICE)
    names = [difference.name for difference in comparison.differences]
    gradients = [f"gradient of {name}" for name, _ in model.named_parameters()]
    assert sorted(names) == sorted(["output", "loss", *gradients])
    assert comparison.wrong == comparison.undecided == []
    assert all(difference.error < 1e-4 for difference in comparison.differences)
    assert "cpu, float32: all 8 tensors are right within rounding" in comparison.report()
    assert model.training and model[3].p == 0.5
    assert all(parameter.grad is None for parameter in model.parameters())
    for name, tensor in before.state_dict().items():
        assert torch.equal(tensor, model.state_dict()[name]), name
    assert torch.equal(states, torch.get_rng_state())


def test_wrong_gradient_is_named_without_later_layers(on_device):
    model = nn.Sequential(
        nn.Flatten(),
        nn.Linear(192, 7),
        Broken(on_device, nn.Identity(), WrongGradient.apply),
        nn.Linear(7, 5),
    )
    comparison = compare_devices(model, batches(), F.cross_entropy, DEVICE)
    assert {d.name for d in comparison.wrong} == {"gradient of 1.weight", "gradient of 1.bias"}
    assert all(d.error == pytest.approx(0.01, rel=1e-3) for d in comparison.wrong)
    report = comparison.report(rows=2)
    assert "WRONG: 2 of 6 tensors" in report
    assert "gradient of 1.weight" in report and "gradient of 3" not in report


def test_another_order_of_additions_is_no_error(on_device):
    """512 float32 values summed one after the other, as a GPU might, against the CPU's pairwise sum."""

    def one_by_one(values):
        total = torch.zeros_like(values[:, 0])
        for column in values.unbind(1):
            total = total + column
        return total[:, None]

    model = nn.Sequential(
        nn.Flatten(),
        nn.Linear(192, 512),
        Broken(on_device, lambda values: values.sum(1, keepdim=True), one_by_one),
        nn.Linear(1, 5),
    )
    comparison = compare_devices(model, batches(), F.cross_entropy, DEVICE)
    assert comparison.wrong == []
    output = next(d for d in comparison.differences if d.name == "output")
    assert output.error != output.cpu_error  # it really was another sum


def test_products_in_a_lower_format_are_caught(on_device):
    """Operands rounded to 10 bits: what TF32 does on CUDA, if it is on."""
    mantissa = ~torch.tensor(0x1FFF, dtype=torch.int32)

    def rounded(values):
        return values + ((values.detach().view(torch.int32) & mantissa).view(torch.float32) - values).detach()

    model = nn.Sequential(nn.Flatten(), Broken(on_device, nn.Identity(), rounded), nn.Linear(192, 5))
    assert "output" in {d.name for d in compare_devices(model, batches(), F.cross_entropy, DEVICE).wrong}


def test_device_nan_is_wrong_and_cpu_nan_refused(on_device):
    def with_nan(values):
        return torch.where(values > 2, torch.nan, values)

    model = nn.Sequential(nn.Flatten(), Broken(on_device, nn.Identity(), with_nan), nn.Linear(192, 5))
    comparison = compare_devices(model, batches(), F.cross_entropy, DEVICE)
    assert "nan" in comparison.report()
    assert {"output", "loss"} <= {d.name for d in comparison.wrong}

    model = nn.Sequential(nn.Flatten(), Broken(on_device, with_nan, with_nan), nn.Linear(192, 5))
    with pytest.raises(RunError, match="NaN or infinite on the CPU already, in float64"):
        compare_devices(model, batches(), F.cross_entropy, DEVICE)


def test_kink_in_one_batch_is_excused_nan_never():
    assert summarize("g", [1e-2, 3e-7], [2e-7, 2e-7], torch.float32).excess < 1
    assert summarize("g", [1e-2, 1e-2], [2e-7, 2e-7], torch.float32).excess == pytest.approx(1e-2 / 2e-5)
    assert summarize("g", [1e-7, torch.nan], [2e-7, 2e-7], torch.float32).excess == torch.inf


def test_bfloat16_is_compared_and_undecided_is_said():
    model = network()
    comparison = compare_devices(model, batches(), F.cross_entropy, DEVICE, torch.bfloat16)
    assert comparison.wrong == []
    assert max(d.error for d in comparison.differences) > 1e-3  # autocast was really on
    vague = [summarize("g", [0.4], [0.4], torch.bfloat16), summarize("h", [1e-3], [1e-3], torch.bfloat16)]
    report = module.Comparison(DEVICE, torch.bfloat16, vague).report()
    assert "cpu, bfloat16: 1 of 2 tensors are right within rounding, 1 cannot be judged" in report


def test_bias_before_batch_norm_has_small_error():
    comparison = compare_devices(network(), batches(), F.cross_entropy, DEVICE)
    bias = next(d for d in comparison.differences if d.name == "gradient of 0.bias")
    assert bias.cpu_error < 1e-3  # relative to its own norm it would be about 1e8


def test_attention_and_recurrent_networks_are_compared_without_their_dropout():
    class Sequence(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed = nn.Embedding(9, 8)
            self.attend = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.3, batch_first=True)
            self.recur = nn.LSTM(8, 8, num_layers=2, dropout=0.3, batch_first=True)
            self.head = nn.Linear(8, 5)

        def forward(self, tokens, scale):
            states, _ = self.recur(self.attend(self.embed(tokens)))
            return {"scores": self.head(states[:, -1]) * scale, "states": [states]}

    torch.manual_seed(0)
    pairs = [((torch.randint(9, (4, 6)), torch.tensor(2.0)), torch.randint(5, (4,)))]
    comparison = compare_devices(
        Sequence(), pairs, lambda out, labels: F.cross_entropy(out["scores"], labels), DEVICE
    )
    assert comparison.wrong == []
    assert {"output[scores]", "output[states][0]"} <= {d.name for d in comparison.differences}


def test_what_cannot_be_compared_is_one_line():
    noisy = nn.Sequential(nn.Flatten(), nn.RReLU(), nn.Linear(192, 5))
    with pytest.raises(UsageError, match="output of this model depends on the random seed"):
        compare_devices(noisy, batches(), F.cross_entropy, DEVICE)
    compare_devices(noisy.eval(), batches(), F.cross_entropy, DEVICE)
    with pytest.raises(UsageError, match="not in float64"):
        compare_devices(network(), batches(), F.cross_entropy, DEVICE, torch.float64)
    with pytest.raises(UsageError, match="no batch"):
        compare_devices(network(), [], F.cross_entropy, DEVICE)


def test_inputs_may_be_nested_and_keep_their_whole_numbers():
    inputs = {"image": torch.ones(2), "length": torch.tensor([3]), "scale": 2, "pair": (torch.ones(1), None)}
    found = module.moved(inputs, torch.device("meta"), torch.float64)
    assert found["image"].dtype == torch.float64 and found["image"].device.type == "meta"
    assert found["length"].dtype == torch.int64 and found["scale"] == 2
    assert found["pair"][0].dtype == torch.float64 and found["pair"][1] is None
