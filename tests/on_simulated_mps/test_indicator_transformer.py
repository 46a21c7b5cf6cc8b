"""What this system does on MPS beyond the promise of every program, on the simulated device."""

import pytest
import simulated_mps
import torch

from examples.indicator_transformer import single_file

indicators = pytest.mark.parametrize("program_name", ["indicator_transformer"], indirect=True)


@indicators
def test_indicators_are_learned_as_on_the_cpu(run_train, tiny):
    """Order and weights come from the CPU, and nothing else is random: only rounding may differ."""
    on_mps, on_cpu = (run_train(*tiny(device=device), out=device) for device in ("mps", "cpu"))
    found, expected = (run.json("summary.json") for run in (on_mps, on_cpu))
    for name in ("train_loss", "train_bce", "val_bce"):
        assert found[name] == pytest.approx(expected[name], abs=1e-4)
    for name in ("value_mean", "context_std"):
        assert torch.equal(on_mps.last["model"][name], on_cpu.last["model"][name])


@indicators
def test_table_training_equals_the_cpu(run_train):
    settings = {"data": "table", "rows": 400, "batch_size": 16, "epochs": 1}
    on_mps, on_cpu = (run_train(device=device, out=device, **settings) for device in ("mps", "cpu"))
    found, expected = (run.json("summary.json") for run in (on_mps, on_cpu))
    assert found["val_bce"] == pytest.approx(expected["val_bce"], abs=1e-4)
    assert found["optimum"] == pytest.approx(expected["optimum"])


@indicators
def test_origin_size_network_takes_its_steps(run_train):
    before = simulated_mps.report().missing
    sizes = {"size": "origin", "bars": 2000, "val_split": 0.05, "batch_size": 1}
    run = run_train(device="mps", max_steps=2, precision="bf16", **sizes)
    assert run.json("config.json")["parameters"] == 4_894_082
    assert simulated_mps.report().missing == before


def test_indicator_single_file_equals_the_cpu(monkeypatch):
    monkeypatch.setattr(single_file, "EPOCHS", 1)
    losses = {}
    for device in ("auto", "cpu"):
        monkeypatch.setattr(single_file, "DEVICE", device)
        network, losses[device] = single_file.train()
        assert network.value_mean.device.type == ("mps" if device == "auto" else "cpu")
    assert losses["auto"] == pytest.approx(losses["cpu"], abs=1e-4)
