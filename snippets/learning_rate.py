"""Parts of a learning-rate schedule, as factors of the highest rate, which can be multiplied."""

import math


# --8<-- [start:learning_rate]
def warm_up(step: int, steps: int) -> float:
    """Return the factor of `step` (0, 1, …): it rises linearly over `steps` steps, then stays at 1."""
    return min(1.0, (step + 1) / (steps + 1))


def cosine(step: int, steps: int, least: float = 0.0) -> float:
    """Return the factor of `step` (0, 1, …): it falls from 1 along half a cosine to `least`."""
    return least + (1 - least) * (1 + math.cos(math.pi * min(1.0, step / steps))) / 2


# --8<-- [end:learning_rate]
