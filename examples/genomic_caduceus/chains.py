"""Generated sequences for guessing masked bases, and the losses that models can reach at best."""

import itertools
import math

import numpy

from examples.genomic_caduceus.motifs import BASES

STAY = 0.7  # chance that a base follows itself


# --8<-- [start:markov]
def markov_chains(
    count: int, length: int, random: numpy.random.Generator, stay: float = STAY
) -> numpy.ndarray:
    """Return sequences (count, length) of bases 0 to 3; with probability `stay`, one repeats the last."""
    moved = (random.random((count, length)) >= stay) * random.integers(1, BASES, (count, length))
    moved[:, 0] = random.integers(0, BASES, count)
    return moved.cumsum(1) % BASES


def hairpins(count: int, length: int, random: numpy.random.Generator) -> numpy.ndarray:
    """Return sequences (count, length) whose second half is the reverse complement of the first."""
    first = random.integers(0, BASES, (count, (length + 1) // 2))
    second = BASES - 1 - first[:, : length // 2][:, ::-1]
    return numpy.concatenate([first, second], 1)


# --8<-- [end:markov]
# --8<-- [start:floors]
def markov_floors(stay: float = STAY) -> dict[str, float]:
    """Return the lowest mean loss, in nats per base, of a model that sees nothing, one side, or both.

    Nothing but the neighbours says anything of a base of a Markov chain.
    """
    step = numpy.full((BASES, BASES), (1 - stay) / (BASES - 1))
    numpy.fill_diagonal(step, stay)
    both = 0.0
    for before, after in itertools.product(range(BASES), repeat=2):
        joint = step[before] * step[:, after] / BASES  # P(before, base, after)
        both -= (joint * numpy.log(joint / joint.sum())).sum()
    causal = -(step[0] * numpy.log(step[0])).sum()
    return {"nothing": math.log(BASES), "before": float(causal), "both sides": float(both)}


# --8<-- [end:floors]
