"""The contrastive loss against values worked out by hand, and which columns of it count."""

import math

import pytest
import torch
from torch.nn import functional as F

from examples.two_tower.loss import info_nce, no_negatives


def unit(*shape):
    return F.normalize(torch.randn(shape), dim=-1)


def loss_of(contexts, payloads, scale=1.0, extra=None, no_negative=None, missing=None):
    """Return what `info_nce` does; if not given, nothing is masked, and there are no extra columns."""
    batch, width = contexts.shape
    extra = torch.zeros(batch, 0, width) if extra is None else extra
    missing = torch.zeros(extra.shape[:2], dtype=torch.bool) if missing is None else missing
    no_negative = torch.zeros(batch, batch, dtype=torch.bool) if no_negative is None else no_negative
    return info_nce(contexts, payloads, torch.as_tensor(scale), extra, no_negative, missing)


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


@pytest.mark.parametrize(("extra", "printed"), [(0, 4.852), (3, 4.875), (4, 4.883)])
def test_equal_vectors_give_the_logarithm_of_the_columns(extra, printed):
    one = unit(1, 16)
    found = loss_of(one.expand(128, 16), one.expand(128, 16), 14.0, one.expand(128, extra, 16))
    assert found[0].item() == pytest.approx(math.log(128 + extra), abs=2e-6)
    assert found[0].item() == pytest.approx(printed, abs=5e-4)
    assert found[2] == 127 + extra


def test_masked_columns_are_not_among_them():
    one = unit(1, 16).expand(6, 16)
    no_negative = no_negatives(torch.tensor([0, 0, 0, 1, 1, 1]), torch.arange(6))
    missing = torch.tensor([[False, True]] * 6)
    found = loss_of(one, one, 3.0, one.unsqueeze(1).expand(6, 2, 16), no_negative, missing)
    assert found[0].item() == pytest.approx(math.log(1 + 3 + 1), abs=1e-6)
    assert found[2] == 3 + 1


def test_a_small_case_by_hand():
    contexts = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    payloads = torch.tensor([[0.6, 0.8], [0.8, 0.6]])
    extra = torch.tensor([[[-1.0, 0.0]], [[0.0, 1.0]]])
    # Scores × 2. Row 0: own 1.2, other 1.6, extra −2. Row 1: own 1.2, other 1.6; its extra is missing.
    first = math.log(math.exp(1.2) + math.exp(1.6) + math.exp(-2)) - 1.2
    second = math.log(math.exp(1.2) + math.exp(1.6)) - 1.2
    found = loss_of(contexts, payloads, 2.0, extra, missing=torch.tensor([[False], [True]]))
    assert found.tolist() == pytest.approx([(first + second) / 2, 0.0, (2 + 1) / 2])
    swapped = loss_of(contexts, payloads.flip(0), 2.0)
    assert swapped.tolist() == pytest.approx([math.log(1 + math.exp(-0.4)), 1.0, 1.0])


def test_equal_payloads_and_own_article_are_no_negatives():
    articles, payload_ids = torch.randint(6, (40,)), torch.randint(25, (40,))
    found = no_negatives(articles, payload_ids)
    for i in range(40):
        for j in range(40):
            equal = articles[i] == articles[j] or payload_ids[i] == payload_ids[j]
            assert found[i, j] == (bool(equal) and i != j)  # the diagonal is its own, and right, column
    assert 0.1 < found.float().mean() < 0.4


def test_masked_columns_get_no_gradient():
    contexts, payloads = unit(3, 8), unit(3, 8).requires_grad_()
    extra = unit(3, 4, 8).requires_grad_()
    no_negative = torch.zeros(3, 3, dtype=torch.bool)
    no_negative[[0, 1], 2] = True  # payload 2 counts for its own context alone
    missing = torch.zeros(3, 4, dtype=torch.bool)
    missing[1, 2] = missing[2, 0] = True
    loss_of(contexts, payloads, 5.0, extra, no_negative, missing)[0].backward()
    assert (extra.grad[missing] == 0).all()
    assert (extra.grad[~missing] != 0).all()
    others = torch.cat([contexts[2] @ payloads.T, extra[2, 1:] @ contexts[2]]).detach()
    own = torch.softmax(5 * others, 0)[2]
    torch.testing.assert_close(payloads.grad[2], 5 / 3 * (own - 1) * contexts[2])


def test_masked_columns_leave_a_learned_temperature_alone():
    contexts, payloads, extra = unit(5, 8), unit(5, 8), unit(5, 3, 8)
    no_negative = no_negatives(torch.tensor([0, 0, 1, 1, 2]), torch.arange(5))
    missing = torch.rand(5, 3) > 0.5

    def at(scale):
        return loss_of(contexts, payloads, scale, extra, no_negative, missing)[0]

    scale = torch.tensor(4.0, requires_grad=True)
    at(scale).backward()
    assert scale.grad.item() == pytest.approx((at(4.01) - at(3.99)).item() / 0.02, abs=1e-3)


def test_an_extra_column_changes_the_loss_through_itself_alone():
    contexts, payloads, extra = unit(5, 8), unit(5, 8), unit(5, 3, 8)
    missing = torch.zeros(5, 3, dtype=torch.bool)
    missing[:, 2] = True
    before = loss_of(contexts, payloads, 4.0, extra[:, :2])
    assert torch.equal(loss_of(contexts, payloads, 4.0, extra, missing=missing), before)
    scores = 4 * torch.cat([contexts @ payloads.T, (contexts.unsqueeze(1) * extra).sum(2)], dim=1)
    sums = scores.double().exp()
    change = (1 + sums[:, 7] / sums[:, :7].sum(1)).log().mean()
    after = loss_of(contexts, payloads, 4.0, extra)
    assert (after[0] - before[0]).item() == pytest.approx(change.item(), abs=1e-6)
    assert (after[2] - before[2]).item() == 1
