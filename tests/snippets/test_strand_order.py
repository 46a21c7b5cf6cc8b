"""Exchanged or not: each network treats both strands alike, and they are different functions."""

import pytest
import torch
from torch import nn

from examples.genomic_caduceus.mamba import Backbone
from snippets.strand_order import StrandsSideBySide, turned


@pytest.fixture
def strands():
    """Return a strand and the other, turned into its frame, with random content."""
    torch.manual_seed(0)
    return torch.randn(2, 9, 12), torch.randn(2, 9, 12)


def network(layers, exchanged, norm=nn.RMSNorm):
    torch.manual_seed(1)
    backbone = Backbone(12, layers, state=3)
    norms = nn.ModuleList(norm(12) for _ in range(layers))
    for part in norms.parameters():
        nn.init.uniform_(part, 0.5, 1.5)  # equal for all channels, they would hide that channels are reversed
    return StrandsSideBySide(norms, backbone.layers, exchanged=exchanged)


def difference(first, second):
    """Return how much the mean over both strands and all positions differs, relative to its size."""
    first, second = ((one.mean(1) + turned(other).mean(1)) / 2 for one, other in (first, second))
    return ((first - second).norm() / first.norm()).item()


@pytest.mark.parametrize("exchanged", [False, True])
@pytest.mark.parametrize("layers", [1, 2, 4])
@torch.no_grad()
def test_each_treats_both_strands_alike(strands, layers, exchanged):
    """The other strand first, each in its own frame: the results change places in the same way."""
    one, other = strands
    found = network(layers, exchanged)(one, other)
    swapped = network(layers, exchanged)(turned(other), turned(one))
    torch.testing.assert_close(swapped[0], turned(found[1]))
    torch.testing.assert_close(swapped[1], turned(found[0]))


@pytest.mark.parametrize("layers", [1, 2, 4])
@torch.no_grad()
def test_with_equal_weights_they_are_different_functions(strands, layers):
    plain, exchanged = (network(layers, way) for way in (False, True))
    assert all(map(torch.equal, plain.state_dict().values(), exchanged.state_dict().values()))
    assert difference(plain(*strands), plain(*strands)) == 0
    assert difference(plain(*strands), exchanged(*strands)) > 0.1


@torch.no_grad()
def test_without_exchange_each_strand_goes_its_own_way(strands):
    """As in the networks of the example, which reads the strands in separate calls."""
    stack = network(2, exchanged=False)
    one, other = stack(*strands)
    for strand, found in ((strands[0], one), (turned(strands[1]), turned(other))):
        for norm, layer in zip(stack.norms, stack.layers, strict=True):
            strand = strand + layer(norm(strand))
        torch.testing.assert_close(found, strand)


@torch.no_grad()
def test_another_norm_has_other_weights_and_gives_another_result(strands):
    rms, layer_norm = (network(2, False, norm) for norm in (nn.RMSNorm, nn.LayerNorm))
    assert {name for name in layer_norm.state_dict() if name not in rms.state_dict()} == {
        "norms.0.bias",
        "norms.1.bias",
    }
    layer_norm.load_state_dict(rms.state_dict(), strict=False)
    for norm in layer_norm.norms:
        nn.init.zeros_(norm.bias)
    shifted = [part + 1 for part in strands]  # a mean that LayerNorm takes away and RMSNorm keeps
    assert difference(rms(*shifted), layer_norm(*shifted)) > 0.01  # rounding would be 1e-6
