"""The Mamba layer: what a position sees, what both directions share, and a loop over all positions."""

import pytest
import torch
from torch.nn import functional as F

from examples.genomic_caduceus import mamba
from examples.genomic_caduceus.mamba import Backbone, BiMamba, Mixer
from snippets.selective_scan import selective_scan_reference


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def seen_from(layer, width, length=9):
    """Return which positions of the output (rows) change with which of the input (columns)."""
    x = torch.randn(2, length, width)
    before, columns = layer(x), []
    for place in range(length):
        changed = x.clone()
        changed[:, place] += 1
        columns.append((layer(changed) != before).any(2).any(0))
    return torch.stack(columns, 1)


def test_a_mixer_sees_what_came_before():
    assert torch.equal(seen_from(Mixer(4, state=3), 8), torch.ones(9, 9).tril().bool())


def test_both_directions_see_everything():
    layer = BiMamba(4, state=3)
    assert seen_from(layer, 4).all()
    with torch.no_grad():  # and without its backward half, what came before
        for weights in (layer.backwards.D, layer.backwards.x_proj.weight):
            weights.zero_()
    assert torch.equal(seen_from(layer, 4), torch.ones(9, 9).tril().bool())


def test_backward_direction_equals_forward_on_the_reversed_sequence():
    layer, x = BiMamba(4, state=3), torch.randn(2, 9, 4)
    swapped = BiMamba(4, state=3)
    swapped.load_state_dict(layer.state_dict())
    swapped.forwards, swapped.backwards = swapped.backwards, swapped.forwards
    torch.testing.assert_close(swapped(x.flip(1)).flip(1), layer(x))
    assert not torch.allclose(layer(x.flip(1)).flip(1), layer(x), rtol=1e-2)


def test_both_directions_share_their_projections():
    """Each projection is there once; only what lies between them is there twice."""
    width, state = 32, 4
    inner, rank = 2 * width, 2
    mixer = inner * (4 + 1) + inner * (rank + 2 * state) + (rank + 1) * inner + inner * state + inner
    layer = BiMamba(width, state)
    assert sum(weights.numel() for weights in layer.parameters()) == 3 * inner * width + 2 * mixer
    projections = {name for name in dict(layer.named_parameters()) if not name.startswith(("forw", "backw"))}
    assert projections == {"into.weight", "out.weight"}
    for silent in (layer.forwards, layer.backwards):  # both learn from either direction
        layer.zero_grad()
        hook = silent.register_forward_hook(lambda module, given, found: found.detach() * 0)
        layer(torch.randn(2, 9, width)).sum().backward()
        hook.remove()
        assert layer.into.weight.grad.any() and layer.out.weight.grad.any()


def step_by_step(mixer, x):
    """Return what a mixer gives for x (batch, length, inner): convolution and scan as loops."""
    length, taps = x.shape[1], mixer.conv.kernel_size[0]
    convolved = mixer.conv.bias.expand_as(x).clone()
    for place in range(length):
        for back in range(min(taps, place + 1)):
            convolved[:, place] += mixer.conv.weight[:, 0, taps - 1 - back] * x[:, place - back]
    x = convolved / (1 + (-convolved).exp())
    chosen = x @ mixer.x_proj.weight.T
    rank, state = mixer.rank, mixer.state
    dt = (1 + (chosen[..., :rank] @ mixer.dt_proj.weight.T + mixer.dt_proj.bias).exp()).log()
    B, C = chosen[..., rank : rank + state], chosen[..., rank + state :]
    return selective_scan_reference(x, dt, -mixer.A_log.exp(), B, C, mixer.D)


def slow(network, tokens):
    """Return what a backbone gives for tokens (batch, length), from its weights alone."""

    def normed(x, weights):
        return x / (x.pow(2).mean(-1, keepdim=True) + 1e-5).sqrt() * weights

    x = network.embedding.weight[tokens]
    for norm, layer in zip(network.norms, network.layers, strict=True):
        both = normed(x, norm.weight) @ layer.into.weight.T
        inner, gate = both.split(both.shape[-1] // 2, -1)
        found = step_by_step(layer.forwards, inner) + step_by_step(layer.backwards, inner.flip(1)).flip(1)
        x = x + (found * gate / (1 + (-gate).exp())) @ layer.out.weight.T
    return normed(x, network.norm.weight)


def test_the_network_equals_loops_over_positions():
    network, tokens = Backbone(6, 2, state=3).double(), torch.randint(0, 16, (3, 11))
    with torch.no_grad():
        torch.testing.assert_close(network(tokens), slow(network, tokens), rtol=1e-10, atol=1e-12)


def gradients(network, tokens):
    """Return the gradient of every weight for a loss in which all positions meet."""
    network.zero_grad()
    hidden = network(tokens)
    (hidden * torch.linspace(-1, 1, hidden.numel()).view_as(hidden).to(hidden)).sum().backward()
    return {name: weights.grad.clone() for name, weights in network.named_parameters()}


def test_gradients_equal_the_reference_scan_for_every_weight(monkeypatch):
    network, tokens = Backbone(6, 2, state=3).double(), torch.randint(0, 16, (3, 11))
    found = gradients(network, tokens)
    monkeypatch.setattr(mamba, "selective_scan", selective_scan_reference)
    torch.testing.assert_close(found, gradients(network, tokens), rtol=1e-9, atol=1e-12)
    assert all(gradient.any() for gradient in found.values())


def test_scan_starts_with_documented_steps_and_decays():
    mixer = Mixer(400, state=16)
    steps = F.softplus(mixer.dt_proj.bias)
    assert 0.001 * 0.999 < steps.min() < 0.0012 and 0.08 < steps.max() < 0.1 * 1.001
    assert steps.log().mean().exp().item() == pytest.approx(0.01, rel=0.15)  # the middle, of logarithms
    assert mixer.dt_proj.weight.abs().max() <= mixer.rank**-0.5
    assert mixer.rank == 25
    torch.testing.assert_close(mixer.A_log.exp(), torch.arange(1.0, 17).expand(800, 16))
    assert torch.equal(mixer.D, torch.ones(800))
