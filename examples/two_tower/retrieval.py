"""Scores of retrieval: how well contexts find their payloads among all payloads."""

import torch

from examples.two_tower.embedding import embed_contexts, embed_payloads
from examples.two_tower.model import TwoTowers
from examples.two_tower.pairs import Pairs

Scores = dict[str, float]
CHUNK = 1024  # contexts per matrix product with the whole bank
RECALLS = (1, 5, 10, 50)
CONTAIN = 50


# --8<-- [start:retrieval]
@torch.no_grad()
def retrieval(
    queries: torch.Tensor,
    rows: torch.Tensor,
    bank: torch.Tensor,
    payload_ids: torch.Tensor,
    articles: torch.Tensor,
) -> dict[str, float]:
    """Return R@1, R@5, R@10, R@50, MRR and Contain@50 of queries (n, width) that belong to `rows` (n,).

    `bank` (N, width), `payload_ids` and `articles` (N,) are of all payloads, training and held out. R@k: the
    share of queries with their own payload among the k best; MRR: the mean of 1 / its rank. Ties count with
    the probability of each order; equal payloads count as one. Contain@50: the share with any payload of the
    same article among the 50 best.
    """
    harmonic = torch.cat([torch.zeros(1), (1 / torch.arange(1, len(bank) + 1)).cumsum(0)]).to(bank.device)
    sums = torch.zeros(len(RECALLS) + 2, device=bank.device)
    for part, own in zip(queries.split(CHUNK), rows.split(CHUNK), strict=True):
        scores = part @ bank.T
        best = scores.topk(min(CONTAIN, len(bank))).indices
        contained = (articles[best] == articles[own, None]).any(1)
        others = payload_ids != payload_ids[own, None]
        mine = scores.gather(1, own[:, None])
        above = ((scores > mine) & others).sum(1)
        level = ((scores == mine) & others).sum(1)
        found = [(k - above).clamp(min=0).minimum(level + 1) / (level + 1) for k in RECALLS]
        reciprocal = (harmonic[above + level + 1] - harmonic[above]) / (level + 1)
        sums += torch.stack([*found, reciprocal, contained.float()]).sum(1)
    names = [*(f"recall_{k}" for k in RECALLS), "mrr", f"contain_{CONTAIN}"]
    return dict(zip(names, (sums / len(rows)).tolist(), strict=True))


# --8<-- [end:retrieval]
def network_scores(model: TwoTowers, pairs: Pairs, rows: torch.Tensor, device: torch.device) -> Scores:
    """Return the retrieval scores of `rows` (n,) among all payloads, with a model on `device`."""
    queries = embed_contexts(model, pairs.contexts, rows, device)
    return scores_of(queries, embed_payloads(model, pairs.payloads, device), pairs, rows, device)


def reference_scores(pairs: Pairs, rows: torch.Tensor, device: torch.device) -> dict[str, Scores | None]:
    """Return the scores "untrained", and "best" of the best possible scorer, which is None if unknown."""
    queries = {"untrained": pairs.plain_queries(), "best": pairs.best_queries}
    bank = pairs.plain_payloads().to(device)
    return {
        name: None if vectors is None else scores_of(vectors[rows].to(device), bank, pairs, rows, device)
        for name, vectors in queries.items()
    }


def scores_of(
    queries: torch.Tensor, bank: torch.Tensor, pairs: Pairs, rows: torch.Tensor, device: torch.device
) -> Scores:
    """Return the scores of queries (n, width) of `rows` (n,); queries and bank are on `device`."""
    known = (column.to(device) for column in (pairs.payload_ids, pairs.articles))
    return retrieval(queries, rows.to(device), bank, *known)
