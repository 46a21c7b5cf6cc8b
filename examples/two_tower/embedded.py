"""Vectors of new texts by a trained network, and the folder in which embed.py keeps them for search.py."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy
import torch

from examples.programs.array_files import read_npy
from examples.programs.run_folder import read_json
from examples.two_tower.embedding import not_learning
from examples.two_tower.encoders import Encoder
from examples.two_tower.model import TwoTowers
from examples.two_tower.near_miss_files import weights_stamp
from examples.two_tower.texts import NAME as TEXTS
from examples.two_tower.texts import Texts
from examples.two_tower.trained import Trained
from snippets.atomic_write import replace_json
from snippets.errors import UsageError

VECTORS, ABOUT = "vectors.npy", "embedding.json"
EMBEDDED = 1024  # texts at once


def column_names(side: str) -> tuple[str, ...]:
    """Return the names of columns that hold texts of a side."""
    if side == "query":
        return ("query", "question", "anchor", "sentence1", "text", "english")
    return ("document", "answer", "positive", "passage", "text", "content", "sentence2", "chinese")


def vectors_of(
    model: TwoTowers, encoder: Encoder, side: str, texts: Sequence[str], device: torch.device
) -> torch.Tensor:
    """Return the vectors of texts by the tower of their side, (texts, width), on `device`."""
    with not_learning(model):
        if side == "query":
            return model.context(encoder.contexts(texts).to(device))
        return model.payload(encoder.documents(texts).to(device))


def about(trained: Trained, side: str, rows: int) -> dict[str, Any]:
    """Return what belongs to vectors: the weights that made them, the side and their number."""
    stamp = weights_stamp(trained.content, trained.pairs)
    return {"side": side, "rows": rows, "weights_crc32": stamp["weights_crc32"]}


def write_about(folder: Path, trained: Trained, side: str, rows: int) -> None:
    """Write what belongs to the vectors in a folder."""
    replace_json(folder / ABOUT, about(trained, side, rows) | {"checkpoint": str(trained.checkpoint)})


def read_embedded(folder: Path, trained: Trained) -> tuple[torch.Tensor, Texts]:
    """Return the mapped vectors of documents (N, width) and their texts. Raises UsageError."""
    again = f"make it with embed.py {trained.folder} FILE --side document --out {folder}"
    known = read_json(folder / ABOUT)
    if known is None:
        raise UsageError(f"{folder} was not made by embed.py ({ABOUT} is missing); {again}")
    texts = Texts(folder / TEXTS)
    if {name: known.get(name) for name in ("side", "rows", "weights_crc32")} != about(
        trained, "document", len(texts)
    ):
        raise UsageError(f"{folder} is not of documents by the weights of {trained.checkpoint}; {again}")
    try:
        vectors = read_npy(folder / VECTORS, mapped=True)
    except FileNotFoundError:
        raise UsageError(f"{folder} has no {VECTORS}; {again}") from None
    if vectors.dtype != numpy.float32 or vectors.shape != (len(texts), trained.pairs.payloads.shape[1]):
        raise UsageError(f"{folder / VECTORS} holds {vectors.dtype} of shape {vectors.shape}; {again}")
    return torch.from_numpy(vectors), texts
