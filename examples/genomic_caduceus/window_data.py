"""Data sets for predicting bases: generated ones with a known optimum, and windows of a genome."""

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy
import torch

from examples.genomic_caduceus.class_data import BASES, tokens_of
from examples.genomic_caduceus.genome import read_windows

LENGTH = 64  # of generated sequences
WINDOW = 1024  # letters of a genome


@dataclass(frozen=True)
class WindowData:
    """Training and held-out tokens, each (sequences, length), uint8."""

    name: str
    source: str
    train: torch.Tensor
    val: torch.Tensor
    floors: Mapping[str, float] = field(default_factory=dict)  # lowest loss by the visible context, if known


def chain_data(name: str, sequences: int, seed: int, length: int = LENGTH) -> WindowData:
    """Return generated sequences, markov or hairpin."""
    random = numpy.random.default_rng(seed)
    held_out = max(sequences // 4, 20)
    if name == "hairpin":
        made = hairpins(sequences + held_out, length, random)
        source, floors = "generated; the second half is the reverse complement of the first", {}
    else:
        made = markov_chains(sequences + held_out, length, random)
        source, floors = "generated; a base tends to repeat the one before", markov_floors()
    tokens = tokens_of(made)
    return WindowData(name, source, tokens[:sequences], tokens[sequences:], floors)


def genome_data(path: Path, length: int | None, intervals: Path | None) -> WindowData:
    """Return windows of a genome. Raises UsageError."""
    train, val = read_windows(path, length or WINDOW, intervals)
    return WindowData("genome", str(path), torch.from_numpy(train), torch.from_numpy(val))


STAY = 0.7  # probability that a base repeats


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

    Given its neighbours, a base of a Markov chain is independent of all others.
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
