"""Both networks: their weights, and no float64, which MPS lacks; of stage 2, what may not change a result.

Each pair once stands for all ordered pairs. Padding, the order of corners and recomputation change nothing.
"""

import pytest
import torch
from torch.nn import functional as F
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from examples.floorplan_diffusion.edge_network import EdgeNetwork, all_pairs, in_order, wall_scores
from examples.floorplan_diffusion.layers import Layer
from examples.floorplan_diffusion.node_network import CHANNELS, NodeNetwork
from examples.floorplan_diffusion.plans import CANVAS, KINDS

WIDTH, LAYERS, HEADS = 32, 2, 4
COUNTS = torch.tensor([6, 4, 5])
CPU = torch.device("cpu")
EXACT = {"rtol": 0, "atol": 1e-12}  # in float64
CLOSE = {"rtol": 0, "atol": 1e-5}  # in float32


@pytest.fixture(autouse=True)
def _seed(one_thread):
    torch.manual_seed(0)


def network(**options):
    return EdgeNetwork(WIDTH, LAYERS, HEADS, **options)


def random_corners(plans, count):
    """Return corners and bits; some corners stand one below the other, as in real plans."""
    corners = (CANVAS * torch.rand(plans, count, 2)).floor()
    corners[:, 1, 0] = corners[:, 0, 0]
    return corners, (torch.rand(plans, count, len(KINDS)) < 0.4).float()


def ordered_pairs(count):
    """Return all ordered pairs of different corners, (2, pairs)."""
    return (~torch.eye(count, dtype=torch.bool)).nonzero().T


def learned(model, corners, bits, walls, fractions, pairs):
    """Return scores, fractions, loss, and the gradients of all weights. Only real pairs count."""
    a, b = pairs
    real = pairs.amax(0) < COUNTS.unsqueeze(1)
    scores, guessed = model(corners, bits, pairs, real, fractions[:, a, b])
    wanted = torch.minimum(fractions, 1 - fractions)[:, a, b]
    losses = F.cross_entropy(scores.mT, walls[:, a, b], reduction="none") + (guessed - wanted).abs()
    loss = losses[real].mean()
    return scores, guessed, loss, torch.autograd.grad(loss, list(model.parameters()))


def test_each_pair_once_gives_what_all_ordered_pairs_give():
    """A and B are the same token as B and A: twice as many tokens are in attention, and change no mean."""
    model, most = network().double(), int(COUNTS.max())
    corners, bits = (values.double() for values in random_corners(len(COUNTS), most))
    either = torch.rand(2, len(COUNTS), most, most, dtype=torch.float64)
    fractions, walls = torch.maximum(either, either.mT)
    plans = corners, bits, (walls > 0.7).long(), fractions
    once, twice = all_pairs(most, CPU), ordered_pairs(most)
    assert twice.shape[1] == 2 * once.shape[1] == 30
    scores, guessed, loss, gradients = learned(model, *plans, once)
    of_all = learned(model, *plans, twice)
    place = {pair: index for index, pair in enumerate(zip(*twice.tolist(), strict=True))}
    for a, b in (once, once.flip(0)):
        found = [place[pair] for pair in zip(a.tolist(), b.tolist(), strict=True)]
        real = torch.maximum(a, b) < COUNTS.unsqueeze(1)
        assert torch.allclose(of_all[0][:, found][real], scores[real], **EXACT)
        assert torch.allclose(of_all[1][:, found][real], guessed[real], **EXACT)
    assert loss.item() == pytest.approx(of_all[2].item(), rel=1e-12)
    for one, other in zip(gradients, of_all[3], strict=True):
        assert torch.allclose(one, other, **EXACT) and one.abs().max() > 1e-6


def test_scores_ignore_a_larger_plan_in_the_batch():
    model, count, most = network(), 5, 9
    corners, bits = random_corners(2, most)  # whatever stands behind the plan's own corners
    pairs = all_pairs(most, CPU)
    together = wall_scores(model, corners, bits, torch.tensor([count, most]), pairs)
    alone = wall_scores(
        model, corners[:1, :count], bits[:1, :count], torch.tensor([count]), all_pairs(count, CPU)
    )
    assert alone.shape == (1, 10, 2)
    assert torch.allclose(together[:1, pairs[1] < count], alone, **CLOSE)


def test_reordering_corners_reorders_the_scores():
    model, count = network(), 7
    corners, bits = random_corners(1, count)
    pairs, counts, order = all_pairs(count, CPU), torch.tensor([count]), torch.randperm(count)
    a, b = pairs
    table = torch.zeros(count, count, 2)
    table[a, b] = table[b, a] = wall_scores(model, corners, bits, counts, pairs)[0]
    other = wall_scores(model, corners[:, order], bits[:, order], counts, pairs)[0]
    assert torch.allclose(other, table[order[a], order[b]], **CLOSE)
    assert not torch.allclose(other, table[a, b], atol=1e-3)


@pytest.mark.parametrize(
    ("start", "end", "expected"), [((1, 9), (2, 0), True), ((1, 2), (1, 3), True), ((1, 3), (1, 2), False)]
)
def test_pair_begins_at_the_left_or_top(start, end, expected):
    start, end = torch.tensor(start), torch.tensor(end)
    assert in_order(start, end).item() is expected
    assert in_order(end, start).item() is not expected


@pytest.fixture
def calls(monkeypatch):
    """Return a list that grows with each layer that computes."""
    made, forward = [], Layer.forward

    def counted(self, x, mask=None):
        made.append(self)
        return forward(self, x, mask)

    monkeypatch.setattr(Layer, "forward", counted)
    return made


def test_recomputation_gives_the_same_gradients(calls):
    plain, recomputed = network(), network(recompute=True)
    recomputed.load_state_dict(plain.state_dict())
    corners, bits = random_corners(len(COUNTS), 6)
    walls, fractions = torch.randint(2, (3, 6, 6)), torch.rand(3, 6, 6)
    plans = corners, bits, walls, fractions, all_pairs(6, CPU)
    expected = learned(plain, *plans)
    assert len(calls) == LAYERS
    found = learned(recomputed, *plans)
    assert calls[LAYERS:] == [*recomputed.layers, *reversed(recomputed.layers)], "and again, from the last on"
    for one, other in zip((*found[:3], *found[3]), (*expected[:3], *expected[3]), strict=True):
        assert torch.equal(one, other)


class Formats(TorchDispatchMode):
    """Notes the number formats of all tensors that any operator takes or returns."""

    def __init__(self):
        super().__init__()
        self.seen = set()

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **kwargs or {})
        self.seen |= {leaf.dtype for leaf in tree_leaves((args, kwargs, result)) if hasattr(leaf, "dtype")}
        return result


def edge_loss(recompute=False):
    model = network(recompute=recompute)
    corners, bits = random_corners(3, 6)
    pairs = all_pairs(6, CPU)
    real = pairs[1] < COUNTS.unsqueeze(1)
    scores, fractions = model(corners, bits, pairs, real, torch.rand(real.shape))
    return scores.sum() + fractions.sum()


def node_loss():
    steps = torch.randint(1000, (3,))
    return NodeNetwork(WIDTH, LAYERS, HEADS)(torch.randn(3, 6, CHANNELS), steps).sum()


@pytest.mark.parametrize("loss", [edge_loss, lambda: edge_loss(recompute=True), node_loss])
def test_no_number_is_float64(loss):
    with Formats() as formats:
        loss().backward()
    assert torch.float32 in formats.seen
    assert torch.float64 not in formats.seen


def test_float64_within_a_computation_is_noticed():
    with Formats() as formats:
        torch.ones(2).double().float()
    assert formats.seen == {torch.float32, torch.float64}
