"""The snippets that ask for the device, on the simulated MPS device (PyTorch 2.13)."""

import gc
import random
import re

import pytest
import torch
from simulated_mps import compilation
from torch import nn

from snippets.compare_devices import compare_devices
from snippets.compile_safely import compile_or_eager
from snippets.data_on_device import count_wrong_copies, fits_on, may_copy_without_waiting, to_device
from snippets.device import forward_on, is_mps, pick_accelerator, pick_device, synchronize, why_not_mps
from snippets.errors import UsageError
from snippets.find_nan import hunt_nan
from snippets.find_waits import WaitFinder
from snippets.memory import limit_memory, memory_mb, read_memory, release_unused
from snippets.missing_operators import count_fallbacks, missing_operator
from snippets.operator_workarounds import (
    adaptive_pool3d,
    channel_shuffle,
    eig_on_cpu,
    multi_margin_loss,
    rrelu,
    sparse_product,
)
from snippets.precision import dtype_inside, pick_precision
from snippets.recompute import run_recomputed
from snippets.seeds import random_states, restore_random_states, seed_everything
from snippets.timing import measure
from snippets.training_step import in_parts

MPS = torch.device("mps")


def test_the_device_is_chosen():
    assert why_not_mps() is None
    device, reason = pick_device()
    assert is_mps(device)
    assert reason.startswith("automatic choice; no CUDA")
    assert pick_device("mps") == (MPS, "as requested")
    assert pick_accelerator().type == "mps"
    scores = forward_on(MPS, nn.Linear(3, 2), torch.ones(4, 3))
    assert scores.device.type == "mps"


@pytest.mark.parametrize(("name", "dtype"), [("bf16", torch.bfloat16), ("fp16", torch.float16)])
def test_autocast_is_on(name, dtype):
    precision = pick_precision(name, MPS)
    assert dtype_inside(precision) == dtype
    assert precision.scaler().is_enabled() == (name == "fp16")
    assert pick_precision("auto", MPS).name == "fp32"


def test_a_scaler_that_is_off_changes_nothing():
    weights = [nn.Parameter(torch.ones(3, device=MPS)) for _ in range(2)]
    optimizers = [torch.optim.AdamW([weight], lr=0.1) for weight in weights]
    scaler = torch.amp.GradScaler("mps", enabled=False)
    for _ in range(3):
        scaler.scale(weights[0].square().sum()).backward()
        scaler.step(optimizers[0])
        scaler.update()
        weights[1].square().sum().backward()
        optimizers[1].step()
    torch.testing.assert_close(*weights, rtol=0, atol=0)


def test_memory_is_read():
    gc.collect()  # what other tests left
    before = memory_mb(MPS)
    tensor = torch.zeros(250_000, device=MPS)  # 1 MB
    assert memory_mb(MPS) - before == pytest.approx(1.0)
    reading = read_memory(MPS)
    assert reading.tensors == reading.held >= tensor.nbytes
    assert reading.peak >= reading.tensors
    assert re.fullmatch(r"mps: tensors \S+ GiB, held \S+ GiB, peak \S+ GiB, capacity 11.00 GiB", str(reading))
    assert limit_memory(MPS, 0.5) > 0
    with pytest.raises(UsageError):
        limit_memory(MPS, 0)
    del tensor
    release_unused(MPS)


def test_random_states_come_back():
    seed_everything(1)
    states = random_states(MPS)
    first = torch.rand(3, device=MPS).tolist(), torch.rand(3).tolist(), random.random()
    restore_random_states(states, MPS)
    assert (torch.rand(3, device=MPS).tolist(), torch.rand(3).tolist(), random.random()) == first


def test_data_move():
    batch = {"images": torch.ones(2, 3), "labels": [torch.tensor([1])]}
    moved = to_device(batch, MPS)
    assert moved["images"].device == moved["labels"][0].device == torch.device("mps:0")
    assert may_copy_without_waiting(torch.ones(2), MPS) in (True, False)
    assert fits_on(MPS, 1000)
    assert count_wrong_copies(MPS, count=3) == 0


def test_clocks_wait_for_the_device():
    synchronize(MPS)
    assert len(measure(lambda: torch.ones(3, device=MPS), MPS, warm_up=1, repeats=4)) == 4


def test_a_device_equal_to_the_cpu_passes_the_comparison():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 3))
    batches = [(torch.randn(5, 6), torch.randn(5, 3)) for _ in range(3)]
    comparison = compare_devices(model, batches, nn.functional.mse_loss, MPS)
    assert comparison.wrong == [], comparison.report()
    assert "tensors are right within rounding" in comparison.report()


def test_a_missing_operator_is_one_line():
    with pytest.raises(NotImplementedError) as caught:
        torch.linalg.eig(torch.eye(2, device=MPS))
    error = missing_operator(caught.value)
    assert "MPS has no operator 'linalg_eig' in PyTorch 2.13.0" in str(error)
    assert "\n" not in str(error)
    with count_fallbacks() as counts:
        torch.ones(2, device=MPS).sum()
    assert not counts


def test_the_work_arounds_use_what_the_device_has():
    images = torch.randn(2, 4, 3, 3, device=MPS)
    assert channel_shuffle(images, 2).shape == images.shape
    pooled = adaptive_pool3d(torch.randn(1, 2, 4, 4, 4, device=MPS), (2, 2, 2), torch.amax)
    assert pooled.shape == (1, 2, 2, 2, 2)
    values, _ = eig_on_cpu(torch.eye(2, device=MPS))
    assert values.device.type == "mps"
    assert multi_margin_loss(torch.randn(3, 4, device=MPS), torch.tensor([0, 1, 2], device=MPS)) >= 0
    assert rrelu(torch.ones(3, device=MPS)).tolist() == [1, 1, 1]
    rows, columns = torch.tensor([[0, 0, 1], [1, 2, 0]], device=MPS)
    values = torch.tensor([2.0, 3.0, 5.0], device=MPS, requires_grad=True)
    product = sparse_product(rows, columns, values, torch.eye(3, device=MPS), 2)
    assert product.tolist() == [[0, 2, 3], [5, 0, 0]]
    product.sum().backward()
    assert values.grad is not None and values.grad.tolist() == [1, 1, 1]


def test_gradients_accumulate():
    model = nn.Linear(3, 1).to(MPS)
    data = torch.randn(7, 3, device=MPS)
    for (part,), share in in_parts([data], 3):
        (share * model(part).mean()).backward()
    accumulated = model.weight.grad.clone()
    model.zero_grad()
    model(data).mean().backward()
    torch.testing.assert_close(accumulated, model.weight.grad)


def test_recomputing_draws_the_same_dropout():
    torch.manual_seed(0)
    blocks = [nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.5)).to(MPS) for _ in range(2)]
    x = torch.randn(16, 8, device=MPS, requires_grad=True)
    gradients = []
    for run in (lambda: run_recomputed(blocks, x), lambda: blocks[1](blocks[0](x))):
        torch.manual_seed(7)
        gradients.append(torch.autograd.grad(run().sum(), x)[0])
    assert torch.equal(*gradients)


def test_waits_are_found():
    with WaitFinder(MPS) as finder:
        torch.ones(2, device=MPS).sum().item()
    assert [reason for reason, _ in finder.waits] == ["a number for Python"]


def test_what_cannot_be_compiled_runs_eagerly(monkeypatch):
    """Inductor finds no Metal compiler here, so the guard has something to guard against."""
    monkeypatch.setattr(compilation, "is_on_mps", lambda graph: False)  # else it is not asked
    model = nn.Sequential(nn.Linear(3, 2), nn.Tanh()).to(MPS)
    network, note = compile_or_eager(model, lambda network: network(torch.ones(4, 3, device=MPS)).mean())
    assert network is model
    assert note.startswith("not compiled: ")


def test_nan_is_traced_to_its_layer():
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1)).to(MPS)
    with torch.no_grad():
        model[1].weight.fill_(torch.inf)
    assert "1" in hunt_nan(model, lambda: model(torch.ones(3, 2, device=MPS)).mean())
