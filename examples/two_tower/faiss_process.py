"""Search neighbours with FAISS in a separate process, since it and PyTorch may load two OpenMP runtimes.

This file is also the program of that process, which does not import PyTorch: `python faiss_process.py
QUERIES.npy BANK.npy COUNT OUT.npy` searches, and `python faiss_process.py VECTORS.npy OUT.faiss` writes an
index. (The page "Abort trap: 6" explains two runtimes in one process.)
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy

if TYPE_CHECKING:
    import torch

    from examples.two_tower.negatives import Forbidden

# foreign_reads: its own temporary files
EXACT_BELOW = 20_000  # rows; larger banks are searched by cell, as the guide's project does
PROBED_CELLS = 8
SAMPLES = 256  # rows per cell from which cells are made; FAISS takes no more
PART = 65_536  # rows added at once
MAGIC = (b"IxFI", b"IwFl")  # first bytes of both kinds of index


# --8<-- [start:faiss_search]
def search(queries: numpy.ndarray, bank: numpy.ndarray, count: int) -> numpy.ndarray:
    """Return the rows of `bank` (N, width) with the highest products with `queries` (n, width), (n, count).

    Both are float32 unit vectors. A large bank is split into √N cells, of which the nearest 8 are searched.
    """
    return index_of(bank).search(queries, count)[1]


def index_of(bank: numpy.ndarray) -> Any:
    """Return a FAISS index of the rows of `bank` (N, width), which may be a mapped file."""
    import faiss

    rows, width = bank.shape
    if rows < EXACT_BELOW:
        index = faiss.IndexFlatIP(width)
    else:
        cells = round(rows**0.5)
        index = faiss.IndexIVFFlat(faiss.IndexFlatIP(width), width, cells, faiss.METRIC_INNER_PRODUCT)
        index.nprobe = PROBED_CELLS
        index.train(numpy.ascontiguousarray(bank[:: max(1, rows // (SAMPLES * cells))]))
    for start in range(0, rows, PART):
        index.add(numpy.ascontiguousarray(bank[start : start + PART]))
    return index


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
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder, name) for name in ("queries.npy", "bank.npy", "found.npy")]
        numpy.save(files[0], queries)
        numpy.save(files[1], bank)
        run("--faiss", *map(str, files[:2]), str(count), str(files[2]))
        return numpy.load(files[2], allow_pickle=False)


def write_index(vectors: Path, file: Path) -> None:
    """Write a FAISS index of the vectors in a .npy file, in a separate process. Raises RunError."""
    temporary = file.with_name(f".{file.name}.{os.getpid()}.tmp")
    try:
        run("--index", str(vectors), str(temporary))
        temporary.replace(file)
    except OSError as error:
        from snippets.errors import RunError

        raise RunError(f"cannot write {file}: {error.strerror}; choose another --index") from None
    finally:
        temporary.unlink(missing_ok=True)


def is_index(file: Path) -> bool:
    """Return whether a file begins as such an index does."""
    from snippets.foreign_files import open_regular

    try:
        with open_regular(file) as content:
            return content.read(4) in MAGIC
    except OSError:
        return False


def run(option: str, *words: str) -> None:
    """Run this file as a program with these words. Raises RunError; `option` can be left out."""
    from snippets.errors import RunError

    command = [sys.executable, __file__, *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        raise RunError(f"FAISS failed ({reason}); install it (pip install faiss-cpu), or leave out {option}")


def obey(words: list[str]) -> None:
    """Search, or write an index."""
    if len(words) == 2:
        import faiss

        faiss.write_index(index_of(numpy.load(words[0], mmap_mode="r")), words[1])
    else:
        numpy.save(words[3], search(numpy.load(words[0]), numpy.load(words[1]), int(words[2])))


if __name__ == "__main__":
    obey(sys.argv[1:])
