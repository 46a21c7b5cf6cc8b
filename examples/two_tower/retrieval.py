"""Scores of retrieval: how well contexts find their payloads among all payloads."""

import time
from collections.abc import Iterable

import torch

from examples.two_tower.embedding import EmbeddedPayloads, embed_contexts, embed_payloads
from examples.two_tower.model import TwoTowers
from examples.two_tower.nearest import CHUNK, PIECE, Nearest, bar, chunks, numbered
from examples.two_tower.negatives import Forbidden, find_near_misses
from examples.two_tower.pairs import Pairs, PlainPayloads

Scores = dict[str, float]
RECALLS = (1, 5, 10, 50)
CONTAIN = 50
FEW = 300_000_000  # products, which take seconds


# --8<-- [start:retrieval]
@torch.no_grad()
def retrieval(
    queries: torch.Tensor,
    rows: torch.Tensor,
    bank: Iterable[torch.Tensor],
    payload_ids: torch.Tensor,
    articles: torch.Tensor,
) -> dict[str, float]:
    """Return R@1, R@5, R@10, R@50, MRR and Contain@50 of queries (n, width) that belong to `rows` (n,).

    `bank` yields pieces (…, width) of the vectors of all N payloads, training and held out, each time anew;
    `payload_ids` and `articles` (N,) are of the same. R@k: the share of queries with their own payload among
    the k best; MRR: the mean of 1 / its rank. Ties count with the probability of each order; equal payloads
    count as one. Contain@50: the share with any payload of the same article among the 50 best.
    """
    mine = own_scores(queries, rows, bank)
    above = torch.zeros(len(rows), dtype=torch.int64, device=rows.device)
    level, near = above.clone(), Nearest(len(rows), min(CONTAIN, len(articles)), rows.device)
    with bar(len(rows) * len(articles), "scores", " products") as done:
        for place, piece in numbered(bank):
            for part in chunks(len(rows)):
                scores = queries[part] @ piece.T
                others = payload_ids[place] != payload_ids[rows[part], None]
                above[part] += ((scores > mine[part, None]) & others).sum(1)
                level[part] += ((scores == mine[part, None]) & others).sum(1)
                near.add(part, scores, place.start)
                done.update(scores.numel())
    return summary(above, level, (articles[near.rows] == articles[rows, None]).any(1), len(articles))


def own_scores(queries: torch.Tensor, rows: torch.Tensor, bank: Iterable[torch.Tensor]) -> torch.Tensor:
    """Return the score of each query with its own payload, from the same products as the others, (n,)."""
    mine = queries.new_empty(len(rows))
    for place, piece in numbered(bank):
        for part in chunks(len(rows)):
            here = (rows[part] >= place.start) & (rows[part] < place.stop)
            if here.any():
                columns = (rows[part] - place.start).clamp(0, len(piece) - 1)
                found = (queries[part] @ piece.T).gather(1, columns[:, None])[:, 0]
                mine[part] = found.where(here, mine[part])
    return mine


def summary(above: torch.Tensor, level: torch.Tensor, contained: torch.Tensor, bank: int) -> dict[str, float]:
    """Return the scores of queries with so many others `above` and `level` with their own payload, all (n,).

    `contained`: whether a payload of the article is among the best; `bank`: the number of all payloads.
    """
    harmonic = torch.cat([torch.zeros(1), (1 / torch.arange(1, bank + 1)).cumsum(0)]).to(above.device)
    sums = torch.zeros(len(RECALLS) + 2, device=above.device)
    for part in chunks(len(above)):
        higher, equal = above[part], level[part]
        found = [(k - higher).clamp(min=0).minimum(equal + 1) / (equal + 1) for k in RECALLS]
        reciprocal = (harmonic[higher + equal + 1] - harmonic[higher]) / (equal + 1)
        sums += torch.stack([*found, reciprocal, contained[part].float()]).sum(1)
    names = [*(f"recall_{k}" for k in RECALLS), "mrr", f"contain_{CONTAIN}"]
    return dict(zip(names, (sums / len(above)).tolist(), strict=True))


# --8<-- [end:retrieval]
def network_scores(model: TwoTowers, pairs: Pairs, rows: torch.Tensor, device: torch.device) -> Scores:
    """Return the retrieval scores of `rows` (n,) among all payloads, with a model on `device`."""
    queries = embed_contexts(model, pairs.contexts, rows, device)
    bank: Iterable[torch.Tensor] = EmbeddedPayloads(model, pairs.payloads, device)
    if len(pairs) <= PIECE:
        bank = [embed_payloads(model, pairs.payloads, device)]
    return scores_of(queries, bank, pairs, rows, device)


def reference_scores(pairs: Pairs, rows: torch.Tensor, device: torch.device) -> dict[str, Scores | None]:
    """Return the scores "untrained", and "best" of the best possible scorer, which is None if unknown."""
    queries = {"untrained": pairs.plain_queries(), "best": pairs.best_queries}
    bank = PlainPayloads(pairs.payloads, device)
    return {
        name: None if vectors is None else scores_of(vectors[rows].to(device), bank, pairs, rows, device)
        for name, vectors in queries.items()
    }


def scores_of(
    queries: torch.Tensor,
    bank: Iterable[torch.Tensor],
    pairs: Pairs,
    rows: torch.Tensor,
    device: torch.device,
) -> Scores:
    """Return the scores of queries (n, width) of `rows` (n,); queries and bank are on `device`."""
    known = (column.to(device) for column in (pairs.payload_ids, pairs.articles))
    return retrieval(queries, rows.to(device), bank, *known)


def announcement(pairs: Pairs, count: int, device: torch.device, mines: bool = False) -> str | None:
    """Return how long `count` contexts with all payloads take on `device`, for scores or for near misses.

    A part is timed. It is None where they are few. The time for the vectors themselves is not in it.
    """
    if count * len(pairs) < FEW:
        return None
    queries = pairs.plain_queries()[: 8 * CHUNK].to(device)
    piece = pairs.payloads[:PIECE].to(device)
    ids = torch.arange(len(piece) + len(queries), device=device)
    rows = ids[len(piece) :]  # not in the piece, as most payloads are not in one
    seconds = []
    for _ in range(4):  # the first time, a device gets ready and memory is new
        start = time.perf_counter()
        if mines:
            find_near_misses([queries], rows, piece, Forbidden(ids, ids, ids < 0), 8).cpu()
        else:
            retrieval(queries, rows, [piece], ids, ids)
        seconds.append(time.perf_counter() - start)
    one = min(seconds) / (len(queries) * len(piece))
    minutes = one * count * len(pairs) / 60
    return f"{count:,} contexts × {len(pairs):,} payloads take about {minutes:,.1f} min on {device}"
