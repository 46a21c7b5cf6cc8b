"""Tell wrong values from rounding: compare two passes through the same network, tensor by tensor.

No fixed tolerance does that. The gradients of a small transformer in float32 agree to seven digits; those of
a freshly made ResNet in bfloat16 to 25 %, because there rounding meets ReLU and batch normalization. So a
third pass, with weights changed by little more than their rounding, says how far is too far.
"""

import contextlib
import math
from collections.abc import Iterator

import torch
from torch import nn

Tensors = dict[str, torch.Tensor]  # "loss" and the gradients, by name


# --8<-- [start:shaken]
def coarseness(dtype: torch.dtype) -> float:
    """Return the relative rounding to reckon with where `dtype` is the coarsest format in use.

    Operators may round more than the format does: CUDA takes TF32 for convolutions in float32, and their
    fast variants in float16 were as far apart as those in bfloat16.
    """
    return 8e-3 if torch.finfo(dtype).bits == 16 else 5e-4  # a step of bfloat16, half a step of TF32


@contextlib.contextmanager
def shaken(module: nn.Module, dtype: torch.dtype) -> Iterator[None]:
    """Change each weight at random, by at most the coarseness of `dtype`; change it back at the end."""
    weights = [parameter for parameter in module.parameters() if parameter.is_floating_point()]
    kept = [weight.detach().clone() for weight in weights]
    generator = torch.Generator(weights[0].device).manual_seed(0)  # its own: dropout must draw as before
    try:
        with torch.no_grad():
            for weight in weights:
                noise = torch.empty_like(weight, dtype=torch.float32).uniform_(-1, 1, generator=generator)
                weight.mul_(1 + coarseness(dtype) * noise)
        yield
    finally:
        with torch.no_grad():
            for weight, before in zip(weights, kept, strict=True):
                weight.copy_(before)


# --8<-- [end:shaken]
# --8<-- [start:disagreement]
def disagreement(found: Tensors, expected: Tensors, from_shaken: Tensors, dtype: torch.dtype) -> str | None:
    """Return in words which tensor is farthest beyond what rounding explains, or None.

    `from_shaken` is what the network gave inside `shaken`; `dtype` is the coarsest format it computed in.
    Allowed are three times the distance that shaking makes, two roundings, and 1 % of what shaking does to
    all gradients together: some consist of rounding alone, as that of a bias before batch normalization.
    """
    if found.keys() != expected.keys():
        return f"the {min(found.keys() ^ expected.keys())} exists in only one of the two"
    everywhere = norm_of_gradients({name: from_shaken[name] - expected[name] for name in expected})
    worst, excess = None, 1.0
    for name, tensor in expected.items():
        error, size = norm(found[name] - tensor), norm(tensor)
        error = math.inf if math.isnan(error) else error
        allowed = 3 * norm(from_shaken[name] - tensor) + 2 * coarseness(dtype) * size
        allowed += 0.01 * everywhere if name != "loss" else 0.0
        if error > excess * allowed:
            shares = f"{percent(error, size)} of its size, rounding explains {percent(allowed, size)}"
            worst, excess = f"the {name} is off by {shares}", error / max(allowed, 1e-30)
    return worst


def uncertainty(expected: Tensors, from_shaken: Tensors) -> str:
    """Return, in per cent of all gradients together, the difference that `disagreement` would not notice."""
    shift = norm_of_gradients({name: from_shaken[name] - expected[name] for name in expected})
    return percent(3 * shift, norm_of_gradients(expected))


# --8<-- [end:disagreement]
def norm(tensor: torch.Tensor) -> float:
    """Return the Euclidean norm of all values together."""
    return torch.linalg.vector_norm(tensor.float()).item()


def norm_of_gradients(tensors: Tensors) -> float:
    """Return the Euclidean norm of all tensors but the loss."""
    return sum(norm(tensor) ** 2 for name, tensor in tensors.items() if name != "loss") ** 0.5


def percent(part: float, whole: float) -> str:
    """Return `part` as a share of `whole`, with two digits."""
    return f"{float(f'{100 * part / whole:.2g}'):g} %" if whole else "more than 100 %"


def all_finite(tensors: Tensors) -> bool:
    """Return whether no value is NaN or infinite."""
    return all(bool(tensor.isfinite().all()) for tensor in tensors.values())
