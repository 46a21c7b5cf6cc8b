"""What this system does on MPS beyond the promise of every program, on the simulated device."""

import pytest
import simulated_mps
import torch

from examples.genomic_caduceus.mamba import Backbone

LIGHTNING = {"trainer.loop": "lightning"}
genomes = pytest.mark.parametrize(
    "program_name", ["genomic_caduceus/pretrain", "genomic_caduceus/train"], indirect=True
)


@genomes
def test_lightning_training_equals_the_cpu(run_train, tiny, system, monkeypatch):
    """Masks are drawn on the device, so here they depend on the tokens alone."""
    before, seen, networks, forward = simulated_mps.report(), set(), {}, Backbone.forward

    def masked(tokens, share, generator=None):
        guessed = (tokens + torch.arange(tokens.shape[1], device=tokens.device)) % 5 == 0
        return torch.where(guessed, 3, tokens), guessed

    def noted(network, tokens):
        seen.add((tokens.device.type, torch.is_grad_enabled(), torch.is_autocast_enabled(tokens.device.type)))
        networks[tokens.device.type] = network
        return forward(network, tokens)

    monkeypatch.setattr(system, "masked", masked, raising=False)
    monkeypatch.setattr(Backbone, "forward", noted)
    found, expected = (
        run_train(*tiny(device=device, max_steps=6, accumulate=2), out=device, **LIGHTNING)
        for device in ("mps", "cpu")
    )
    assert {device for device, *_ in seen} == {"mps", "cpu"}
    for device, network in networks.items():  # Lightning alone would move it to the CPU at the end
        assert {weights.device.type for weights in network.parameters()} == {device}
    for name in ("train_loss", "val_loss"):
        assert found.metrics[-1][name] == pytest.approx(expected.metrics[-1][name], abs=1e-4)
    seen.clear()
    assert run_train(*tiny(max_steps=1, precision="bf16"), **LIGHTNING).code == 0
    assert seen == {("mps", True, True), ("mps", False, False)}
    assert simulated_mps.report().missing == before.missing
