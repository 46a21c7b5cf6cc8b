"""Search neighbours with FAISS in a separate process, since it and PyTorch may load two OpenMP runtimes.

This file is also the program of that process: `python faiss_process.py QUERIES.npy BANK.npy COUNT OUT.npy`
does not import PyTorch. (The page "Abort trap: 6" explains two runtimes in one process.)
"""

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy

if TYPE_CHECKING:
    import torch

    from examples.two_tower.negatives import Forbidden

# foreign_reads: its own temporary files
EXACT_BELOW = 20_000  # rows; larger banks are searched by cell, as the guide's project does
PROBED_CELLS = 8


# --8<-- [start:faiss_search]
def search(queries: numpy.ndarray, bank: numpy.ndarray, count: int) -> numpy.ndarray:
    """Return the rows of `bank` (N, width) with the highest products with `queries` (n, width), (n, count).

    Both are float32 unit vectors. A large bank is split into √N cells, of which the nearest 8 are searched.
    """
    import faiss

    rows, width = bank.shape
    if rows < EXACT_BELOW:
        index = faiss.IndexFlatIP(width)
    else:
        cells = round(rows**0.5)
        index = faiss.IndexIVFFlat(faiss.IndexFlatIP(width), width, cells, faiss.METRIC_INNER_PRODUCT)
        index.nprobe = PROBED_CELLS
        index.train(bank)
    index.add(bank)
    return index.search(queries, count)[1]


# --8<-- [end:faiss_search]
def find_with_faiss(
    queries: "torch.Tensor", rows: "torch.Tensor", bank: "torch.Tensor", forbidden: "Forbidden", count: int
) -> "torch.Tensor":
    """Return the result of `find_near_misses`, found by FAISS. Raises RunError when that fails.

    FAISS cannot exclude forbidden rows, so the search is repeated with twice as many neighbours until every
    query has enough allowed ones or all rows were returned.
    """
    import torch

    from examples.two_tower.negatives import NONE

    asked = min(len(bank), 4 * count)
    while True:
        ids = torch.from_numpy(ask(queries.numpy(), bank.numpy(), asked))
        found = torch.full((len(queries), count), NONE)
        for start in range(0, len(queries), 1024):
            part = ids[start : start + 1024]
            wrong = (part < 0) | forbidden(rows[start : start + 1024]).gather(1, part.clamp(min=0))
            order = wrong.long().argsort(dim=1, stable=True)[:, :count]  # allowed ones first, in their order
            chosen = part.gather(1, order).where(~wrong.gather(1, order), NONE)
            found[start : start + 1024, : chosen.shape[1]] = chosen
        if asked == len(bank) or (found != NONE).all():
            return found
        asked = min(len(bank), 2 * asked)


def ask(queries: numpy.ndarray, bank: numpy.ndarray, count: int) -> numpy.ndarray:
    """Run `search` in a separate process and return its result. Raises RunError."""
    from snippets.errors import RunError

    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder, name) for name in ("queries.npy", "bank.npy", "found.npy")]
        numpy.save(files[0], queries)
        numpy.save(files[1], bank)
        command = [sys.executable, __file__, *map(str, files[:2]), str(count), str(files[2])]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            reason = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
            raise RunError(
                f"FAISS failed ({reason}); install it (pip install faiss-cpu), or leave out --faiss"
            )
        return numpy.load(files[2], allow_pickle=False)


if __name__ == "__main__":
    numpy.save(sys.argv[4], search(numpy.load(sys.argv[1]), numpy.load(sys.argv[2]), int(sys.argv[3])))
