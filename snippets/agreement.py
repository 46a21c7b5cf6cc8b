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
ALONG_ITSELF = 0.7  # of its size: rounding never moved a comparable gradient as far in its own direction


def disagreement(found: Tensors, expected: Tensors, from_shaken: Tensors, dtype: torch.dtype) -> str | None:
    """Return in words which tensor is farthest beyond what rounding explains, or None.

    `from_shaken` is what the network gave inside `shaken`; `dtype` is the coarsest format it computed in.
    Allowed are three times the distance that shaking makes, two roundings, and 1 % of what shaking does to
    all gradients together: some consist of rounding alone, as that of a bias before batch normalization.

    In 16 bits that can be more than the whole gradient. But rounding moves a gradient in all directions, and
    a wrong factor or sign moves it along itself. So this part of the difference has a limit of its own.
    """
    if found.keys() != expected.keys():
        return f"the {min(found.keys() ^ expected.keys())} exists in only one of the two"
    worst, excess = None, 1.0
    for name, error, limit in errors(found, expected, from_shaken, dtype):
        if error > excess * limit:
            size = norm(expected[name])
            shares = f"{percent(error, size)} of its size, rounding explains {percent(limit, size)}"
            worst, excess = f"the {name} is off by {shares}", error / max(limit, 1e-30)
    return worst


def errors(
    found: Tensors, expected: Tensors, from_shaken: Tensors, dtype: torch.dtype
) -> Iterator[tuple[str, float, float]]:
    """Yield each tensor's name, how far it is off, and how far that may be: in all, and along itself."""
    everywhere = norm_of_gradients({name: from_shaken[name] - expected[name] for name in expected})
    for name, tensor in expected.items():
        difference, size, shift = found[name] - tensor, norm(tensor), norm(from_shaken[name] - tensor)
        allowed = 3 * shift + 2 * coarseness(dtype) * size + (0.01 * everywhere if name != "loss" else 0.0)
        limits = [(norm(difference), allowed)]
        if shift < ALONG_ITSELF * size:  # otherwise it is mostly rounding
            limits.append((abs(product(difference, tensor)) / size, ALONG_ITSELF * size))
        for error, limit in limits:
            yield name, math.inf if math.isnan(error) else error, limit


def what_was_compared(expected: Tensors, from_shaken: Tensors) -> str:
    """Return in words what is the same if nothing disagrees, and what would not show in all gradients."""
    size = norm_of_gradients(expected)
    shift = norm_of_gradients({name: from_shaken[name] - expected[name] for name in expected})
    if shift >= ALONG_ITSELF * size:
        changed = percent(shift, size)
        return f"same loss (gradients were not compared: rounding alone changes them by {changed})"
    blind = percent(min(3 * shift, ALONG_ITSELF * size), size)
    return f"same values (gradients too large or too small by less than {blind} would not show)"


# --8<-- [end:disagreement]
def norm(tensor: torch.Tensor) -> float:
    """Return the Euclidean norm of all values together."""
    return torch.linalg.vector_norm(tensor.float()).item()


def product(one: torch.Tensor, other: torch.Tensor) -> float:
    """Return the inner product of two tensors of the same shape."""
    return (one.float() * other.float()).sum().item()


def norm_of_gradients(tensors: Tensors) -> float:
    """Return the Euclidean norm of all tensors but the loss."""
    return sum(norm(tensor) ** 2 for name, tensor in tensors.items() if name != "loss") ** 0.5


def percent(part: float, whole: float) -> str:
    """Return `part` as a share of `whole`, with two digits."""
    return f"{float(f'{100 * part / whole:.2g}'):g} %" if whole else "more than 100 %"


def all_finite(tensors: Tensors) -> bool:
    """Return whether no value is NaN or infinite."""
    return all(bool(tensor.isfinite().all()) for tensor in tensors.values())
