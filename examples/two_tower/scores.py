"""Retrieval scores of some rows: with a network, without training, and the best possible ones."""

import torch

from examples.two_tower.embedding import embed_contexts, embed_payloads
from examples.two_tower.model import TwoTowers
from examples.two_tower.pairs import Pairs
from examples.two_tower.retrieval import retrieval

Scores = dict[str, float]


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
