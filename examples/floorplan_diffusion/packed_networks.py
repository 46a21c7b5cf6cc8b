"""Both trained networks in one small file: a byte for each weight of a matrix, and a scale per row."""

import json
from pathlib import Path
from typing import Any

import numpy
import torch

from examples.programs.array_files import read_npz
from snippets.errors import UsageError

PARTS = ("matrices", "scales", "vectors", "about")
BUNDLED = Path(__file__).with_name("bundled.npz")  # made by the commands in bundled.txt
MOST_TEXT = 1 << 20  # bytes of `about`


def rounded_rows(matrix: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return a matrix (rows, columns) as int8 and a scale per row, float16 (rows,): matrix ≈ int8 · scale.

    An entry is off by at most half a scale, which is a 254th of the largest entry of its row.
    """
    scales = (matrix.abs().amax(dim=1) / 127).half()
    steps = matrix / scales.float().clamp(min=1e-12).unsqueeze(1)
    return steps.round().clamp(-127, 127).to(torch.int8), scales


def pack(weights: dict[str, torch.Tensor], about: dict[str, Any]) -> dict[str, numpy.ndarray]:
    """Return the arrays of a network: its weights, and `about`, JSON values with what it was trained with."""
    matrices, scales, vectors = [], [], []
    for weight in weights.values():
        if weight.ndim == 2:
            rounded, scale = rounded_rows(weight)
            matrices.append(rounded.flatten())
            scales.append(scale)
        else:
            vectors.append(weight.flatten().half())
    text = json.dumps(about | {"shapes": {name: list(weight.shape) for name, weight in weights.items()}})
    parts = [torch.cat(part).numpy() for part in (matrices, scales, vectors)]
    return dict(zip(PARTS, [*parts, numpy.frombuffer(text.encode(), dtype=numpy.uint8)], strict=True))


def unpack(arrays: dict[str, numpy.ndarray]) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
    """Return weights and `about` of `pack`. Raises ValueError, KeyError or TypeError for other arrays."""
    if [arrays[part].dtype for part in PARTS] != ["int8", "float16", "float16", "uint8"]:
        raise ValueError("its arrays have other types")
    if len(arrays["about"]) > MOST_TEXT:
        raise ValueError("its description is too long")
    about = json.loads(arrays["about"].tobytes())
    matrices, scales, vectors = (torch.from_numpy(arrays[part]) for part in PARTS[:3])
    weights, taken = {}, [0, 0, 0]
    for name, shape in about.pop("shapes").items():
        size = int(numpy.prod(shape, dtype=object))
        if len(shape) == 2:
            rows = scales[taken[1] : taken[1] + shape[0]].float().unsqueeze(1)
            weights[name] = matrices[taken[0] : taken[0] + size].view(shape) * rows
            taken = [taken[0] + size, taken[1] + shape[0], taken[2]]
        else:
            weights[name] = vectors[taken[2] : taken[2] + size].float().view(shape)
            taken = [taken[0], taken[1], taken[2] + size]
    if taken != [len(matrices), len(scales), len(vectors)]:
        raise ValueError("its arrays and its shapes differ in size")
    return weights, about


def read_packed(path: Path, stage: str, prefix: str) -> dict[str, Any]:
    """Return the network of a stage as the content of a checkpoint. Raises UsageError."""
    found = read_npz(path, [f"{stage}_{part}" for part in PARTS])
    try:
        weights, about = unpack(dict(zip(PARTS, found.values(), strict=True)))
        model = {f"{prefix}{name}": weight for name, weight in weights.items()}
        return {"model": model, "config": about["config"], "step": int(about["step"])}
    except (ValueError, KeyError, TypeError, AttributeError, RuntimeError, RecursionError) as error:
        what = str(error).partition("\n")[0][:80] or type(error).__name__
        raise UsageError(f"{path} holds no packed networks: {what}") from None
