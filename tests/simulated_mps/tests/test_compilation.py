"""torch.compile on the device is traced and computed, and says what it is not."""

import warnings

import pytest
import torch
from simulated_mps import compilation


def loss(x):
    """Return a number."""
    return (x * 2).sin().sum()


@pytest.fixture(autouse=True)
def _nothing_compiled_nor_said():
    torch.compiler.reset()
    compilation.warn_once.cache_clear()


def test_one_warning_and_the_same_numbers_and_gradients():
    values = torch.tensor([0.1, 0.2])
    on_cpu, on_mps = values.clone().requires_grad_(), values.to("mps").requires_grad_()
    expected = loss(on_cpu)
    expected.backward()
    with pytest.warns(UserWarning, match="aot_eager instead of inductor") as caught:
        found = torch.compile(loss, fullgraph=True)(on_mps)
        found.backward()
        torch.compile(torch.nn.Linear(2, 2).to("mps"), mode="max-autotune")(on_mps)
        torch.compile(lambda: torch.ones(2, device="mps").sum())()
    assert len([one for one in caught if "aot_eager" in str(one.message)]) == 1
    assert found.item() == pytest.approx(expected.item())
    assert on_mps.grad.tolist() == pytest.approx(on_cpu.grad.tolist())


def test_graphs_on_the_cpu_still_go_to_inductor(monkeypatch):
    compiled = []

    def note(graph, inputs, **options):
        compiled.append(graph)
        return graph

    monkeypatch.setattr("torch._inductor.compile_fx.compile_fx", note)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        torch.compile(loss)(torch.ones(2))
    assert len(compiled) == 1
