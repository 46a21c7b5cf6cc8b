"""Extra negatives: others of the own article, near misses, and what is never among them."""

import dataclasses

import pytest
import torch
from torch.nn import functional as F

from examples.two_tower import negatives as module
from examples.two_tower.generated_pairs import generate_pairs
from examples.two_tower.model import Shape, TwoTowers
from examples.two_tower.negative_sources import CANDIDATES, NegativeSource
from examples.two_tower.negatives import (
    NONE,
    Forbidden,
    Negatives,
    drawn,
    find_near_misses,
    own_article_negatives,
    without_equal,
)
from examples.two_tower.options import resolve
from examples.two_tower.pairs import Pairs, split_by_article
from snippets.errors import UsageError

CPU = torch.device("cpu")


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize("count", [0, 1, 3, 6])
def test_others_of_the_own_article(count):
    """Sizes of 1, 2, 3, … rows, among them unusable ones, in any order."""
    articles = torch.repeat_interleave(torch.arange(9), torch.arange(1, 10))
    articles = articles[torch.randperm(len(articles), generator=seeded(1))]
    usable = torch.rand(len(articles), generator=seeded(2)) > 0.2
    found = own_article_negatives(articles, usable, count, seeded())
    assert found.shape == (len(articles), count)
    for row, chosen in enumerate(found.tolist()):
        candidates = {other for other in range(len(articles)) if articles[other] == articles[row]} - {row}
        candidates = {other for other in candidates if usable[other]} if usable[row] else set()
        real = [other for other in chosen if other != NONE]
        assert len(real) == len(set(real)) == min(count, len(candidates))
        assert set(real) <= candidates
        assert chosen == real + [NONE] * (count - len(real))


def test_article_rows_are_drawn_equally_often():
    articles, usable = torch.arange(60) // 6, torch.ones(60, dtype=torch.bool)
    found = own_article_negatives(articles, usable, 2, seeded())
    assert (found.flatten().bincount() == 2).all()
    assert torch.equal(found, own_article_negatives(articles, usable, 2, seeded()))
    assert not torch.equal(found, own_article_negatives(articles, usable, 2, seeded(1)))


@pytest.fixture
def bank():
    """Return vectors of 60 payloads, of which some are equal, of 15 articles, of which some are held out."""
    vectors = F.normalize(torch.randn(60, 6, generator=seeded()), dim=1)
    vectors[40:50] = vectors[:10]
    pairs = Pairs("bank", "", vectors.unsqueeze(1), vectors, torch.arange(60) % 15)
    return pairs, Forbidden(pairs.articles, pairs.payload_ids, pairs.articles % 5 == 2)


def test_near_misses_equal_a_loop(bank, monkeypatch):
    monkeypatch.setattr(module, "PIECE", 13)
    pairs, forbidden = bank
    rows = (~forbidden.held_out).nonzero().flatten()
    queries = torch.randn(len(rows), 6, generator=seeded(1))
    found = find_near_misses(queries.split(7), rows, pairs.payloads, forbidden, 5)
    for query, row, ids in zip(queries, rows.tolist(), found.tolist(), strict=True):
        allowed = [
            other
            for other in range(60)
            if pairs.articles[other] != pairs.articles[row]
            and not torch.equal(pairs.payloads[other], pairs.payloads[row])
            and pairs.articles[other] % 5 != 2
        ]
        scores = pairs.payloads @ query
        expected = sorted(allowed, key=lambda other: -scores[other])[:5]
        assert scores[ids].tolist() == pytest.approx(scores[expected].tolist())  # equal payloads: any order
        assert set(ids) <= set(allowed) and len(set(ids)) == 5


def test_where_nothing_is_left_there_is_no_near_miss(bank):
    pairs, _ = bank
    held_out = pairs.articles > 1  # articles 0 and 1, of four rows each, remain
    forbidden = Forbidden(pairs.articles, pairs.payload_ids, held_out)
    rows = (~held_out).nonzero().flatten()
    found = find_near_misses([pairs.payloads[rows]], rows, pairs.payloads, forbidden, 100)
    assert found.shape == (8, 60)
    assert ((found != NONE).sum(1) == 4).all()
    assert (found[:, 4:] == NONE).all()


def test_drawn_takes_some_of_the_candidates_by_chance():
    candidates = torch.arange(4000).view(1000, 4)
    candidates[:500, 2:] = NONE
    found = drawn(candidates, 3, seeded())
    assert found.shape == (1000, 3)
    for row, chosen in enumerate(found.tolist()):
        real = [one for one in chosen if one != NONE]
        assert len(real) == len(set(real)) == (2 if row < 500 else 3)
        assert set(real) <= set(candidates[row].tolist())
        assert NONE not in chosen[: len(real)]
    taken = drawn(candidates[500:], 1, seeded())[:, 0] % 4
    assert (taken.bincount(minlength=4) > 90).all()  # 125 of each are expected
    assert torch.equal(found, drawn(candidates, 3, seeded()))
    assert drawn(candidates, 9, seeded()).shape == (1000, 4)


def test_equal_payloads_are_left_out():
    payload_ids = torch.tensor([5, 5, 7, 8])
    chosen = torch.tensor([[1, 2], [0, NONE], [3, 0], [2, 1]])
    assert without_equal(chosen, payload_ids).tolist() == [[NONE, 2], [NONE, NONE], [3, 0], [2, 1]]


def test_vectors_of_the_negatives_of_a_batch():
    cache = torch.arange(12.0).view(6, 2)
    negatives = Negatives(torch.tensor([[1, NONE], [2, 3], [NONE, NONE]]), cache, near=1)
    vectors, missing = negatives.of(torch.tensor([1, 0]))
    assert missing.tolist() == [[False, False], [False, True]]
    assert vectors[~missing].tolist() == cache[[2, 3, 1]].tolist()


# ---- Those of an epoch ----


def source_of(pairs, **typed):
    """Return the source of negatives for a run of its own, and the network."""
    options = resolve({"data": "generated", "width": 8, **typed})
    torch.manual_seed(0)
    model = TwoTowers(pairs.contexts.shape[2], Shape(8, 1, "gru"))
    return NegativeSource(options, pairs, split_by_article(pairs.articles, 0.2, 0)), model


@pytest.fixture
def pairs():
    return generate_pairs(240, 1.0, seed=0)


def test_epoch_puts_near_misses_before_own_article(pairs):
    source, model = source_of(pairs, near_miss_k=2, same_article_k=3)
    found = source.for_epoch(0, model, CPU)
    assert (found.rows.shape, found.near, source.count) == ((240, 5), 2, 5)
    assert torch.equal(found.cache, model.payload(pairs.payloads).detach())
    learned = source.learned
    near, own = found.rows[learned, :2], found.rows[learned, 2:]
    assert (near != NONE).all() and (own != NONE).all()
    assert (pairs.articles[near] != pairs.articles[learned, None]).all()
    assert (pairs.articles[own] == pairs.articles[learned, None]).all()
    assert not source.held_out[found.rows[learned]].any()
    assert (found.rows[source.held_out] == NONE).all()
    forbidden = Forbidden(pairs.articles, pairs.payload_ids, source.held_out)
    queries = model.context(pairs.contexts[learned]).detach()
    best = find_near_misses([queries], learned, found.cache, forbidden, 2 * CANDIDATES)
    assert all(set(some) <= set(all_) for some, all_ in zip(near.tolist(), best.tolist(), strict=True))


def test_negatives_depend_on_seed_and_epoch_alone(pairs):
    source, model = source_of(pairs)
    first, second = (source.for_epoch(epoch, model, CPU).rows for epoch in (0, 1))
    assert not torch.equal(first[:, 0], second[:, 0]) and not torch.equal(first[:, 1:], second[:, 1:])
    torch.manual_seed(99)
    assert torch.equal(source.for_epoch(1, model, CPU).rows, second)
    other, _ = source_of(pairs, seed=1)
    assert not torch.equal(other.for_epoch(0, model, CPU).rows, first)


def test_none_of_the_own_article_has_an_equal_payload(pairs):
    payloads = pairs.payloads.clone()
    payloads[1::2] = payloads[::2]  # neighbours of one article are equal
    source, model = source_of(dataclasses.replace(pairs, payloads=payloads), same_article_k=11)
    rows = source.for_epoch(0, model, CPU).rows[source.learned]
    ids = source.pairs.payload_ids
    assert ((rows != NONE).sum(1) == 1 + 10).all()
    assert (ids[rows] != ids[source.learned, None])[rows != NONE].all()


def test_without_any_candidate_own_article_negatives_are_refused(pairs):
    alone = dataclasses.replace(pairs, articles=torch.arange(240))
    with pytest.raises(UsageError, match="--same-article-k 3: each article has a single row to learn from"):
        source_of(alone)
    source, model = source_of(alone, same_article_k=0)
    assert source.for_epoch(0, model, CPU).rows.shape == (240, 1)
    assert source_of(alone, same_article_k=0, near_miss_k=0)[0].count == 0
