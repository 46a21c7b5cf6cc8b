"""The distance of corners from alignment with another corner, as a loss and as the guide's penalty."""

import torch

EPSILON = 1e-4  # lower bound for logarithms


# --8<-- [start:alignment]
def axis_distances(places: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
    """Return the distance of each corner from vertical or horizontal alignment, (plans, corners).

    It is the smallest difference in x or in y to another corner of the plan, in the unit of `places` (plans,
    corners, 2), and infinite if there is no other corner. `real` (plans, corners) is false for padding.
    """
    apart = (places.unsqueeze(2) - places.unsqueeze(1)).abs().amin(-1)
    own = torch.eye(places.shape[1], dtype=torch.bool, device=places.device)
    possible = real.unsqueeze(2) & real.unsqueeze(1) & ~own
    return apart.masked_fill(~possible, torch.inf).amin(-1)


def alignment_loss(places: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
    """Return -2·ln(1 - d/2) for each corner's axis distance d, (plans, corners); `places` are from -1 to 1.

    At the largest distance, 2, the logarithm would be infinite. The guide's system reduces distances by a
    factor of 1 - 1e-8, which is 1 in float32. Here 1 - d/2 is at least 1e-4.
    """
    distances = axis_distances(places, real)
    distances = torch.where(distances.isfinite(), distances, 0)
    return -2 * torch.log((1 - distances / 2).clamp(min=EPSILON))


# --8<-- [end:alignment]
def digit_penalty(pixels: torch.Tensor) -> torch.Tensor:
    """Return the penalty of the guide's system for distances in whole pixels (…), summed over four bases.

    For the digits of the distance in base 2, 4, 8 and 16 it is -k·ln(1 - sum/k), with k = 12, 18, 35 and 45.
    Splitting a number into digits has no gradient, so it is only a measure.
    """
    total = torch.zeros_like(pixels, dtype=torch.float32)
    for base, most in ((2, 12), (4, 18), (8, 35), (16, 45)):
        digits = torch.zeros_like(total)
        left = pixels.long()
        while left.any():
            digits += left % base
            left = left // base
        total -= most * torch.log(1 - digits / most)
    return total
