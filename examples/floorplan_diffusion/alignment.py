"""How far corners are from standing in line with another one: as a loss, and as the guide counts it."""

import torch

EPSILON = 1e-4  # the least number whose logarithm is taken: that of 0 is infinite


# --8<-- [start:alignment]
def axis_distances(places: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
    """Return how far each corner is from being above, below or beside another one, (plans, corners).

    `places` (plans, corners, 2) may have any unit, and the distance has the same; `real` (plans, corners)
    says which corners there are. It is the smaller of the two differences of coordinates, to whichever other
    corner makes it smallest. Where there is no other corner it is infinite.
    """
    apart = (places.unsqueeze(2) - places.unsqueeze(1)).abs().amin(-1)
    own = torch.eye(places.shape[1], dtype=torch.bool, device=places.device)
    possible = real.unsqueeze(2) & real.unsqueeze(1) & ~own
    return apart.masked_fill(~possible, torch.inf).amin(-1)


def alignment_loss(places: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
    """Return -2·ln(1 - d/2) of each corner's distance d in line, (plans, corners); `places` are from -1 to 1.

    The greatest distance is 2; there the logarithm would be infinite. The guide's system shortens distances
    by a part in 1e8, which float64 can tell from 1 and float32 cannot. Here 1 - d/2 is at least 1e-4.
    """
    distances = axis_distances(places, real)
    distances = torch.where(distances.isfinite(), distances, 0)
    return -2 * torch.log((1 - distances / 2).clamp(min=EPSILON))


# --8<-- [end:alignment]
# --8<-- [start:digits]
def digit_penalty(pixels: torch.Tensor) -> torch.Tensor:
    """Return what the guide's system adds for distances in whole pixels (…): a sum over four number systems.

    For the digits of the distance in base 2, 4, 8 and 16 it is -k·ln(1 - sum/k), k being 12, 18, 35 and 45.
    Cutting a number into digits has no gradient, so that nothing can be learned from it: a measure only.
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


# --8<-- [end:digits]
