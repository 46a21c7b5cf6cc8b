"""The files that this system reads, for the attacks of test_damaged_data.py, and arrays for other tests."""

import json

import numpy
import torch

from examples.two_tower.generated_pairs import generate_pairs
from examples.two_tower.near_miss_files import read_cache, read_near_misses
from examples.two_tower.negatives import NONE
from examples.two_tower.pair_columns import Columns
from examples.two_tower.pair_files import read_pairs
from examples.two_tower.pair_tables import read_rows

ROWS, WIDTH = 12, 4


def arrays(rows=ROWS, width=WIDTH, per_article=4):
    """Return what a file of pairs holds: unit vectors of generated pairs, and whole numbers."""
    pairs = generate_pairs(rows, 1.0, 0, width, per_article)
    keys = torch.stack([pairs.articles + 70, torch.arange(rows)], dim=1)
    names = "context_sequences", "target_vectors", "truth_keys"
    return dict(zip(names, map(torch.Tensor.numpy, (pairs.contexts, pairs.payloads, keys)), strict=True))


def make_pairs(path):
    """Write a file of pairs."""
    numpy.savez(path, **arrays())


def check_pairs(pairs):
    """Fail unless what was read has passed the checks that are promised."""
    rows = len(pairs)
    assert pairs.contexts.shape == (rows, pairs.contexts.shape[1], pairs.payloads.shape[1])
    assert pairs.contexts.dtype == pairs.payloads.dtype == torch.float32
    assert pairs.contexts.isfinite().all() and pairs.payloads.isfinite().all()
    assert pairs.payloads.any(1).all() and pairs.plain_queries().any(1).all()
    assert pairs.articles.shape == (rows,) and len(pairs.articles.unique()) > 1
    assert isinstance(pairs.fingerprint(), int)


def make_cache(path):
    """Write vectors of payloads."""
    numpy.save(path, arrays()["target_vectors"])


def check_cache(vectors):
    """Fail unless the vectors are those of all rows."""
    assert vectors.shape == (ROWS, WIDTH) and vectors.isfinite().all()


def make_near_misses(path):
    """Write near misses of the rows of the first two articles; the third is held out."""
    lines = [{"q_index": row, "near_miss_indices": [(row + 4) % 8, (row + 5) % 8]} for row in range(8)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def read_misses(path):
    """Read near misses of the pairs of this file."""
    pairs = generate_pairs(ROWS, 1.0, 0, WIDTH, 4)
    return read_near_misses(path, pairs, pairs.articles == 2), pairs


def check_misses(found):
    """Fail unless they are of other articles that are learned from."""
    near, pairs = found
    assert len(near) == ROWS and near.shape[1] >= 1
    real = near != NONE
    assert (near[real] < 8).all()
    assert (pairs.articles[near.clamp(min=0)] != pairs.articles[:, None])[real].all()


TABLE = [("how long does it last?", "ten hours"), ("内存有多大？", "十六 GB"), ("what is it?", "a computer")]


def make_table(path):
    """Write pairs of texts as a table with the form that its name says."""
    if path.suffix == ".jsonl":
        lines = [json.dumps({"query": one, "pos": [other]}) for one, other in TABLE]
    else:
        lines = ["question\tanswer", *("\t".join(pair) for pair in TABLE)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def read_table(path):
    """Read the pairs of a table."""
    return list(read_rows(path, Columns()))


def check_table(rows):
    """Fail unless the rows are pairs of texts, or repeat the header."""
    assert all(type(row.query) is type(row.document) is str and row.belongs != row.repeats for row in rows)


# name: what makes such a file, what reads it, what must hold for what was read
FILES = {
    "pairs.npz": (make_pairs, read_pairs, check_pairs),
    "pairs.tsv": (make_table, read_table, check_table),
    "pairs.jsonl": (make_table, read_table, check_table),
    "p_cache.npy": (make_cache, lambda path: read_cache(path, ROWS, WIDTH), check_cache),
    "near_misses.jsonl": (make_near_misses, read_misses, check_misses),
}
