"""The contrastive loss (InfoNCE): each context should score its own payload highest."""

import torch
from torch.nn import functional as F


# --8<-- [start:info_nce]
def info_nce(
    contexts: torch.Tensor,
    payloads: torch.Tensor,
    scale: torch.Tensor,
    extra: torch.Tensor,
    no_negative: torch.Tensor,
    missing: torch.Tensor,
    first: int = 0,
) -> torch.Tensor:
    """Return mean cross-entropy, share of contexts that rank their payload first, mean negatives, (3,).

    The columns of a context are the payloads of the batch and its `extra` ones: contexts (rows, width) and
    payloads (batch, width), unit vectors; extra (rows, k, width). `no_negative` (rows, batch) and `missing`
    (rows, k) mask columns. `scale` is 1 / temperature. The contexts are those of the whole batch, or, of
    several processes, those from number `first` on.
    (van den Oord and others 2018, arXiv 1807.03748, equation 4.)
    """
    in_batch = contexts @ payloads.T
    further = torch.einsum("bw,bkw->bk", contexts, extra)
    scores = scale * torch.cat([in_batch, further], dim=1).float()
    # After scaling: otherwise the gradient of a learned temperature would be 0 × -inf, which is NaN.
    scores = scores.masked_fill(torch.cat([no_negative, missing], dim=1), -torch.inf)
    own = torch.arange(first, first + len(contexts), device=contexts.device)
    negatives = scores.isfinite().sum(1).float() - 1
    right = (scores.argmax(1) == own).float()
    return torch.stack([F.cross_entropy(scores, own), right.mean(), negatives.mean()])


# --8<-- [end:info_nce]
# --8<-- [start:no_negatives]
def no_negatives(
    articles: torch.Tensor, payload_ids: torch.Tensor, first: int = 0, rows: int | None = None
) -> torch.Tensor:
    """Return which payloads of a batch are not negatives of which contexts, bool (rows, batch).

    An equal payload is a right answer, and payloads of the same article nearly are; a chosen number of the
    latter is added as extra columns. The own payload, on the diagonal, is False. The contexts are all of the
    batch, or `rows` from number `first` on.
    """
    same = (articles[:, None] == articles) | (payload_ids[:, None] == payload_ids)
    return same.fill_diagonal_(False)[first:][:rows]


# --8<-- [end:no_negatives]
