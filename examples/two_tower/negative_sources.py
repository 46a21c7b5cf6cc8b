"""The extra negatives of an epoch, from the run itself or from files of another run."""

from pathlib import Path
from typing import Any

import torch

from examples.two_tower.embedding import each_context, embed_payloads
from examples.two_tower.model import TwoTowers
from examples.two_tower.near_miss_files import check_stamp, read_cache, read_near_misses, weights_stamp
from examples.two_tower.negatives import (
    NONE,
    Forbidden,
    Negatives,
    drawn,
    find_near_misses,
    own_article_negatives,
    without_equal,
)
from examples.two_tower.options import Options
from examples.two_tower.pairs import Pairs
from snippets.checkpoints import load_checkpoint
from snippets.errors import UsageError
from snippets.untrusted_checkpoints import tensors_crc32

CANDIDATES = 8  # candidates per near miss, from which each epoch draws


class NegativeSource:
    """Makes the negatives of each epoch. With files, vectors and near misses are the same in all epochs."""

    def __init__(self, options: Options, pairs: Pairs, held_out: torch.Tensor) -> None:
        """Read the given files. Raises UsageError when they do not match the data or the weights."""
        self.options, self.pairs, self.held_out = options, pairs, held_out
        self.learned = (~held_out).nonzero().flatten()
        self.notes: list[str] = []
        self.cache = self.near = None
        self.crc32 = 0
        if options.p_cache and options.start_from:  # `resolve` ensures that both are given
            self.read_files(Path(options.p_cache), Path(options.start_from))
        self.check_candidates()

    @property
    def count(self) -> int:
        """Return the largest number of extra negatives of a row."""
        return self.options.same_article_k + self.options.near_miss_k

    @property
    def has_files(self) -> bool:
        """Return whether vectors and near misses come from files, not from the present weights."""
        return self.cache is not None and (self.near is not None or not self.options.near_miss_k)

    def read_files(self, cache: Path, start_from: Path) -> None:
        """Read payload cache and near misses, made from the weights that the run starts with."""
        options, pairs = self.options, self.pairs
        checkpoint = load_checkpoint(start_from)
        if "steps_per_epoch" not in checkpoint["config"]:
            raise UsageError(f"{start_from} is no checkpoint of a training; name another")
        weights = weights_stamp(checkpoint, pairs)
        self.cache = read_cache(cache, len(pairs), pairs.payloads.shape[1])
        self.note(check_stamp(cache, weights, "build_cache.py"))
        self.crc32 = tensors_crc32([self.cache])
        if options.near_misses:
            file = Path(options.near_misses)
            self.near = read_near_misses(file, pairs, self.held_out)
            self.note(check_stamp(file, weights, "mine_near_misses.py"))
            self.crc32 = tensors_crc32([self.near], self.crc32)

    def note(self, text: str | None) -> None:
        """Store a note for the user, unless it is None."""
        self.notes += [text] if text else []

    def check_candidates(self) -> None:
        """Raise UsageError when negatives of the own article are requested and no article has two rows."""
        counts = self.pairs.articles[self.learned].unique(return_counts=True)[1]
        if self.options.same_article_k and len(counts) == len(self.learned):
            raise UsageError(
                f"--same-article-k {self.options.same_article_k}: each article has a single row to learn "
                "from, so there is no other one; use --same-article-k 0"
            )

    def coverage(self) -> float | None:
        """Return the share of rows with a near miss in the file, or None without a file."""
        return None if self.near is None else (self.near[self.learned] != NONE).any(1).float().mean().item()

    # --8<-- [start:for_epoch]
    def for_epoch(self, epoch: int, model: TwoTowers, device: torch.device) -> Negatives:
        """Return the negatives of an epoch (0, 1, …) on the CPU, drawn with the run's seed."""
        options, pairs = self.options, self.pairs
        generator = torch.Generator().manual_seed(options.seed + 1_000_003 * epoch)
        cache, near = self.cache, self.near
        if cache is None:
            cache = embed_payloads(model, pairs.payloads, device)
        if near is None and options.near_miss_k:
            near = self.mine(model, cache.to(device))
        columns = [own_article_negatives(pairs.articles, ~self.held_out, options.same_article_k, generator)]
        if options.near_miss_k:
            columns.insert(0, drawn(near, options.near_miss_k, generator))
        rows = without_equal(torch.cat(columns, dim=1), pairs.payload_ids)
        return Negatives(rows, cache.cpu(), columns[0].shape[1] if options.near_miss_k else 0)

    # --8<-- [end:for_epoch]
    def check(self, saved: Any) -> None:
        """Raise ValueError unless `saved`, from a checkpoint, is a possible result of `for_epoch`."""
        options, count = self.options, len(self.pairs)
        try:
            rows, cache, near = saved["rows"], saved["cache"], saved["near"]
            fits = type(near) is int and 0 <= near <= options.near_miss_k and len(saved) == 3
            fits = fits and rows.dtype == torch.int64 and cache.dtype == torch.float32
            fits = fits and rows.shape == (count, near + options.same_article_k)
            fits = fits and cache.shape == (count, self.pairs.payloads.shape[1])
            fits = fits and bool(((rows >= NONE) & (rows < count)).all() and cache.isfinite().all())
        except (AttributeError, KeyError, TypeError):
            fits = False
        if not fits:
            raise ValueError("its negatives are not of these pairs")

    def mine(self, model: TwoTowers, cache: torch.Tensor) -> torch.Tensor:
        """Return the nearest wrong payloads of all training rows, (N, k), and NONE for other rows."""
        device, pairs = cache.device, self.pairs
        forbidden = Forbidden(pairs.articles, pairs.payload_ids, self.held_out).to(device)
        queries = each_context(model, pairs.contexts, self.learned, device)
        count = CANDIDATES * self.options.near_miss_k
        found = find_near_misses(queries, self.learned.to(device), cache, forbidden, count)
        near = torch.full((len(pairs), found.shape[1]), NONE)
        near[self.learned] = found.cpu()
        return near
