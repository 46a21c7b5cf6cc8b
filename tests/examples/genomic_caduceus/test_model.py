"""Networks of both strands: their size, and that a sequence and its reverse complement get one answer."""

import pytest
import torch

from examples.genomic_caduceus.mamba import Backbone
from examples.genomic_caduceus.model import Classifier, LanguageModel
from examples.genomic_caduceus.tokens import FIRST_BASE, PAD, UNKNOWN_BASE, reverse_complement

WIDTHS = (8, 17, 118)
TOLERANCE = {torch.float32: 1e-5, torch.float64: 1e-12}  # where rounding may differ


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def sequences(count=4, length=28, padded=True):
    """Return random tokens with some N, the first of them without padding, the others with more and more."""
    tokens = torch.randint(FIRST_BASE, UNKNOWN_BASE + 1, (count, length))
    if padded:
        for row in range(count):
            tokens[row, : 7 * row] = PAD
    return tokens


def other_strand(network, tokens):
    """Return the reverse complement of tokens."""
    return reverse_complement(tokens, network.partners)


def assert_close(first, second):
    """Fail unless two tensors are equal but for rounding."""
    torch.testing.assert_close(first, second, rtol=0, atol=TOLERANCE[first.dtype])


def size(module):
    """Return the number of weights."""
    return sum(weights.numel() for weights in module.parameters())


@pytest.mark.parametrize(
    ("width", "layers", "weights"), [(118, 4, 470_702), (128, 4, 541_312), (128, 2, 271_744)]
)
def test_networks_have_the_published_sizes(width, layers, weights):
    with torch.device("meta"):  # counts without memory
        backbone = Backbone(width, layers)
    assert size(backbone) == weights
    assert size(Classifier(backbone, 2)) == weights + 2 * width  # the head has no bias
    assert size(LanguageModel(backbone)) == weights  # its head is the embedding


# ---- Classes ----


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("dtype", TOLERANCE)
def test_both_strands_have_one_score_bit_for_bit(width, dtype):
    network = Classifier(Backbone(width, 2, state=4), 3).to(dtype)
    tokens = sequences()
    with torch.no_grad():
        scores = network(tokens)
        assert torch.equal(scores, network(other_strand(network, tokens)))
    assert scores.std(0).min() > 1e-3  # but different sequences have different ones


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("dtype", TOLERANCE)
def test_stacked_strands_have_one_score_but_for_rounding(width, dtype):
    """And the one of separate calls."""
    network = Classifier(Backbone(width, 2, state=4), 3, stacked=True).to(dtype)
    tokens = sequences()
    with torch.no_grad():
        scores = network(tokens)
        assert_close(scores, network(other_strand(network, tokens)))
        network.stacked = False
        assert_close(scores, network(tokens))


@pytest.mark.parametrize("stacked", [False, True])
def test_gradients_are_those_of_the_other_strand(stacked):
    network = Classifier(Backbone(8, 2, state=4), 3, stacked=stacked).double()
    tokens, found = sequences(), []
    for given in (tokens, other_strand(network, tokens)):
        network.zero_grad()
        network(given).logsumexp(1).sum().backward()
        found.append({name: weights.grad.clone() for name, weights in network.named_parameters()})
    torch.testing.assert_close(*found, rtol=1e-9, atol=1e-12)


class TwoNetworks(Classifier):
    """What must not be: another network for the other strand."""

    def strands(self, tokens):
        other = Backbone(8, 2, state=4)
        return self.backbone(tokens), other(other_strand(self, tokens))


class OneOrder(Classifier):
    """What must not be: the other strand is complemented, but read from its end."""

    def strands(self, tokens):
        return self.backbone(tokens), self.backbone(self.partners[tokens])


@pytest.mark.parametrize("wrong", [TwoNetworks, OneOrder])
def test_what_treats_strands_differently_is_noticed(wrong):
    network, tokens = wrong(Backbone(8, 2, state=4), 3), sequences()
    with torch.no_grad():
        apart = network(tokens) - network(other_strand(network, tokens))
    assert apart.abs().max() > 1e-3
    with pytest.raises(AssertionError):
        assert_close(apart, torch.zeros_like(apart))


def test_conjoined_score_is_the_mean_of_both_strands():
    network, tokens = Classifier(Backbone(8, 2, state=4), 3, both_strands=False), sequences()
    other = other_strand(network, tokens)
    with torch.no_grad():
        assert (network(tokens) - network(other)).abs().max() > 1e-3
        assert torch.equal(network.conjoined(tokens), network.conjoined(other))
        torch.testing.assert_close(network.conjoined(tokens), (network(tokens) + network(other)) / 2)


def test_padding_does_not_count_in_the_mean():
    network, tokens = Classifier(Backbone(8, 2, state=4), 3), sequences(length=20, padded=False)
    hidden = torch.randn(4, 20, 8)
    tokens[:, :13] = PAD
    before = network.scores(hidden, tokens)
    torch.testing.assert_close(before, network.head(hidden[:, 13:].mean(1)))
    hidden[:, :13] = 1e6
    assert torch.equal(network.scores(hidden, tokens), before)
    tokens[:] = PAD
    assert torch.equal(network.scores(hidden, tokens), torch.zeros(4, 3))


# ---- Masked bases ----


def turned(network, scores):
    """Return scores (batch, length, 16) as the other strand has them."""
    return scores.flip(1)[..., network.partners]


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("stacked", [False, True])
def test_scores_of_bases_flip_and_complement(dtype, stacked):
    network = LanguageModel(Backbone(17, 2, state=4), stacked=stacked).to(dtype)
    tokens = sequences(padded=False)
    with torch.no_grad():
        scores = network(tokens)
        found = network(other_strand(network, tokens))
    assert scores.shape == (4, 28, 16)
    assert_close(found, turned(network, scores))
    assert stacked or torch.equal(found, turned(network, scores))
    for wrong in (scores, scores.flip(1), scores[..., network.partners]):
        assert (found - wrong).abs().max() > 1e-3


def test_scores_of_bases_of_one_strand_do_not():
    network = LanguageModel(Backbone(17, 2, state=4), both_strands=False)
    tokens = sequences(padded=False)
    with torch.no_grad():
        found = network(other_strand(network, tokens))
        assert (found - turned(network, network(tokens))).abs().max() > 1e-3


def test_partners_are_no_part_of_a_checkpoint():
    """They never change, and a backbone fits into both networks."""
    network = Classifier(Backbone(8, 1, state=2), 2)
    assert "partners" not in network.state_dict()
    assert not any(name.startswith("partners") for name, _ in network.named_parameters())
