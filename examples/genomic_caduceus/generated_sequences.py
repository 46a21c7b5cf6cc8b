"""Generated DNA sequences: with a motif, as Markov chains, as hairpins; and what is best possible."""

import itertools
import math
from dataclasses import dataclass

import numpy
import torch

from examples.genomic_caduceus.class_data import ClassData, Labelled
from examples.genomic_caduceus.tokens import FIRST_BASE
from examples.genomic_caduceus.window_data import WindowData

LENGTH = 64  # of a sequence
PLACES, ERROR = 10, 0.05  # of the motif, and the chance of another base in it
TEST = 2_000  # sequences at most: an accuracy of 95 % is then known to half a percent
BASES = 4  # A, C, G, T as 0 to 3; the complement of b is 3 - b
NAMES = ("background", "motif")  # of the classes, by index


# --8<-- [start:generate]
@dataclass(frozen=True)
class Motif:
    """A motif as probabilities of the bases at each of its positions, (places, 4)."""

    table: numpy.ndarray

    @classmethod
    def drawn(cls, places: int, error: float, random: numpy.random.Generator) -> "Motif":
        """Return a motif with one random base per position, replaced with probability `error`."""
        table = numpy.full((places, BASES), error / (BASES - 1))
        table[numpy.arange(places), random.integers(0, BASES, places)] = 1 - error
        return cls(table)

    def other_strand(self) -> "Motif":
        """Return the reverse complement of the motif."""
        return Motif(self.table[::-1, ::-1])


def generate(
    count: int, length: int, motif: Motif, random: numpy.random.Generator
) -> tuple[numpy.ndarray, numpy.ndarray]:
    """Return sequences (count, length) of bases 0 to 3, and their classes (count,).

    Bases are uniform; class 1 has the motif at a random position of a random strand.
    """
    sequences = random.integers(0, BASES, (count, length))
    classes = random.integers(0, 2, count)
    strands = motif.table, motif.other_strand().table
    places = len(motif.table)
    for row in numpy.flatnonzero(classes):
        table = strands[random.integers(0, 2)]
        start = random.integers(0, length - places + 1)
        drawn = (random.random((places, 1)) > table.cumsum(1)).sum(1).clip(max=BASES - 1)
        sequences[row, start : start + places] = drawn
    return sequences, classes


# --8<-- [end:generate]
# --8<-- [start:best]
def log_likelihood_ratio(sequences: numpy.ndarray, motif: Motif) -> numpy.ndarray:
    """Return log P(sequence | motif) - log P(sequence | background), (count,), the optimal classifier.

    The ratio is the mean, over all positions and both strands, of the product of table[place, base] / (1/4).
    """
    windows = numpy.lib.stride_tricks.sliding_window_view(sequences, len(motif.table), axis=1)
    ratios = []
    for table in (motif.table, motif.other_strand().table):
        logs = numpy.log(table * BASES)
        ratios.append(numpy.exp(logs[numpy.arange(len(table)), windows].sum(-1)))
    return numpy.log(numpy.concatenate(ratios, axis=1).mean(1))


def best_possible(sequences: numpy.ndarray, classes: numpy.ndarray, motif: Motif) -> tuple[float, float]:
    """Return accuracy and cross-entropy, in nats, of the exact likelihood ratio."""
    ratio = log_likelihood_ratio(sequences, motif)
    accuracy = ((ratio > 0) == (classes == 1)).mean()
    entropy = numpy.logaddexp(0, numpy.where(classes == 1, -ratio, ratio)).mean()
    return float(accuracy), float(entropy)


# --8<-- [end:best]


def motif_data(sequences: int, seed: int, length: int = LENGTH) -> ClassData:
    """Return generated sequences, half of which contain the seed's motif."""
    random = numpy.random.default_rng(seed)
    motif = Motif.drawn(min(PLACES, length), ERROR, random)
    counts = sequences, max(sequences // 4, 20), min(5 * sequences, TEST)
    made = [generate(count, length, motif, random) for count in counts]
    train, val, test = (Labelled(tokens_of(bases), torch.from_numpy(classes)) for bases, classes in made)
    source = f"generated; a motif of {len(motif.table)} bases, on either strand, in half of them"
    return ClassData("motif", source, NAMES, train, val, test, best_possible(*made[2], motif))


def tokens_of(bases: numpy.ndarray) -> torch.Tensor:
    """Return bases 0 to 3 (A, C, G, T) as tokens, uint8."""
    return torch.from_numpy(bases).to(torch.uint8) + FIRST_BASE


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
