"""Generated sequences whose best classifier is known: one motif, planted at random on either strand."""

from dataclasses import dataclass

import numpy

BASES = 4  # A, C, G, T as 0 to 3; the partner of b is 3 - b
NAMES = ("background", "motif")  # of the classes, in the order of their numbers


# --8<-- [start:generate]
@dataclass(frozen=True)
class Motif:
    """A motif as probabilities of the bases at each of its places, (places, 4)."""

    table: numpy.ndarray

    @classmethod
    def drawn(cls, places: int, error: float, random: numpy.random.Generator) -> "Motif":
        """Return a motif with one base per place, which is another one with probability `error`."""
        table = numpy.full((places, BASES), error / (BASES - 1))
        table[numpy.arange(places), random.integers(0, BASES, places)] = 1 - error
        return cls(table)

    def other_strand(self) -> "Motif":
        """Return the motif as the other strand reads it."""
        return Motif(self.table[::-1, ::-1])


def generate(
    count: int, length: int, motif: Motif, random: numpy.random.Generator
) -> tuple[numpy.ndarray, numpy.ndarray]:
    """Return sequences (count, length) of bases 0 to 3, and their classes (count,).

    All bases are drawn evenly; class 1 has the motif at a random place of a random strand.
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
    """Return log P(sequence | motif) - log P(sequence | background), (count,): nobody can decide better.

    It is the mean, over all places and both strands, of the product of table[place, base] / (1/4).
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
