"""Search a large bank piece by piece, so that the memory does not depend on its size."""

import sys
from collections.abc import Iterable, Iterator
from typing import Any

import torch
from tqdm import tqdm

CHUNK = 128  # queries per product
PIECE = 16_384  # rows of the bank per product: with CHUNK queries, 8 MiB of scores
NONE = -1  # marks a missing row


class Nearest:
    """The highest scores of each query so far, and the rows of the bank that have them, both (n, count)."""

    def __init__(self, queries: int, count: int, device: torch.device) -> None:
        self.scores = torch.full((queries, count), -torch.inf, device=device)
        self.rows = torch.full((queries, count), NONE, device=device)

    def add(self, part: slice, scores: torch.Tensor, start: int) -> None:
        """Take in `scores` (m, width) of the queries `part` with the rows of the bank from `start` on."""
        count = self.rows.shape[1]
        best, places = scores.float().topk(min(count, scores.shape[1]))
        both = torch.cat([self.scores[part], best], dim=1)
        order = both.argsort(dim=1, descending=True, stable=True)[:, :count]
        self.rows[part] = torch.cat([self.rows[part], places + start], dim=1).gather(1, order)
        self.scores[part] = both.gather(1, order)

    def found(self) -> torch.Tensor:
        """Return the rows, the highest score first, and NONE where the score is -inf, (n, count)."""
        return self.rows.where(self.scores.isfinite(), NONE)


def numbered(bank: Iterable[torch.Tensor]) -> Iterator[tuple[slice, torch.Tensor]]:
    """Yield each piece of a bank with its rows."""
    start = 0
    for piece in bank:
        yield slice(start, start + len(piece)), piece
        start += len(piece)


def chunks(count: int) -> list[slice]:
    """Return the parts of `count` queries that are multiplied at once."""
    return [slice(start, min(start + CHUNK, count)) for start in range(0, count, CHUNK)]


def bar(total: int, what: str, unit: str, initial: int = 0) -> Any:
    """Return a progress bar, which shows in a terminal when the work takes more than two seconds."""
    shown: dict[str, Any] = {"disable": None, "leave": False, "file": sys.stdout, "delay": 2}
    return tqdm(total=total, desc=what, unit=unit, initial=initial, **shown)
