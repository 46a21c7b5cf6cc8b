"""Retrieval scores against a loop that ranks the payloads of each query one by one."""

import pytest
import torch
from torch.nn import functional as F

from examples.two_tower import nearest
from examples.two_tower.pairs import Pairs
from examples.two_tower.retrieval import retrieval

RECALLS = ("recall_1", "recall_5", "recall_10", "recall_50")


def by_loop(queries, rows, bank, payload_ids, articles):
    """Return the scores, averaged over all orders of payloads with equal scores."""
    sums = dict.fromkeys([*RECALLS, "mrr", "contain_50"], 0.0)
    for query, row in zip(queries, rows.tolist(), strict=True):
        scores = [float(query @ payload) for payload in bank]
        others = [i for i in range(len(bank)) if payload_ids[i] != payload_ids[row]]
        above = sum(scores[i] > scores[row] for i in others)
        level = sum(scores[i] == scores[row] for i in others)
        places = range(above + 1, above + level + 2)
        for name in RECALLS:
            sums[name] += sum(place <= int(name.split("_")[1]) for place in places) / len(places)
        sums["mrr"] += sum(1 / place for place in places) / len(places)
        best = sorted(range(len(bank)), key=lambda i: -scores[i])[:50]
        sums["contain_50"] += any(articles[i] == articles[row] for i in best)
    return {name: value / len(rows) for name, value in sums.items()}


@pytest.fixture(autouse=True, params=[11, 1000])
def _several_chunks(monkeypatch, request):
    """Score 7 queries with 11 payloads at once, or with all of them."""
    monkeypatch.setattr(nearest, "CHUNK", 7)
    monkeypatch.setattr(nearest, "PIECE", request.param)
    torch.manual_seed(0)


def scores(queries, rows, bank, payload_ids, articles):
    """Return the scores with the bank in pieces."""
    return retrieval(queries, rows, bank.split(nearest.PIECE), payload_ids, articles)


def test_scores_equal_a_loop():
    bank, articles = torch.randn(120, 3), torch.arange(120) // 2
    rows = torch.arange(120)[::3]
    queries = 0.3 * bank[rows] + torch.randn(len(rows), 3)
    given = queries, rows, bank, torch.arange(120), articles
    found = scores(*given)
    assert found == pytest.approx(by_loop(*given))
    assert 0 < found["recall_1"] < found["recall_5"] < found["recall_10"] < found["recall_50"] < 1
    assert found["recall_50"] < found["contain_50"] < 1


def test_equal_scores_count_by_chance_and_equal_payloads_once():
    """Of whole numbers from a small range, many products are equal; many payloads, too."""
    bank = torch.randint(-1, 2, (90, 3)).float()
    payload_ids = torch.unique(bank, dim=0, return_inverse=True)[1]
    assert len(payload_ids.unique()) < 30
    rows = torch.arange(40)
    given = torch.randint(-2, 3, (40, 3)).float(), rows, bank, payload_ids, torch.arange(90)
    found, expected = scores(*given), by_loop(*given)
    for name in (*RECALLS, "mrr"):
        assert found[name] == pytest.approx(expected[name]), name


@pytest.mark.parametrize("size", [4, 40, 200])
def test_a_constant_embedding_finds_by_luck(size):
    one = torch.ones(size, 2)
    found = scores(one, torch.arange(size), one, torch.arange(size), torch.arange(size))
    for name in RECALLS:
        assert found[name] == pytest.approx(min(1, int(name.split("_")[1]) / size))
    assert found["mrr"] == pytest.approx(sum(1 / n for n in range(1, size + 1)) / size)


def test_duplicates_are_one_right_answer():
    """Without that, each of three equal payloads would be in the way of the others."""
    bank = F.normalize(torch.randn(30, 6), dim=1).repeat(3, 1)
    pairs = Pairs("three times", "", bank.unsqueeze(1), bank, torch.arange(90))
    assert len(pairs.payload_ids.unique()) == 30
    found = scores(bank, torch.arange(90), bank, pairs.payload_ids, pairs.articles)
    assert found["recall_1"] == found["mrr"] == 1


def test_contain_50_asks_for_any_payload_of_the_article():
    """A query that lies opposite of its own payload, and upon another one of its article."""
    width = 200
    bank, rows = torch.eye(width), torch.tensor([0])
    query = (bank[1] - bank[0]).unsqueeze(0)
    articles = torch.arange(width)
    apart = scores(query, rows, bank, torch.arange(width), articles)
    together = scores(query, rows, bank, torch.arange(width), articles.clone().index_fill_(0, rows, 1))
    assert (apart["contain_50"], together["contain_50"]) == (0, 1)
    assert apart["recall_50"] == together["recall_50"] == 0
    assert apart["mrr"] == together["mrr"] == pytest.approx(1 / width, abs=1e-6)
