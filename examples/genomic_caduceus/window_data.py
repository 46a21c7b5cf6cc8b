"""Data sets to guess bases in: generated ones whose optimum is known, and windows of a genome."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy
import torch

from examples.genomic_caduceus.chains import hairpins, markov_chains, markov_floors
from examples.genomic_caduceus.class_data import tokens_of
from examples.genomic_caduceus.genome import read_windows

LENGTH = 64  # of generated sequences
WINDOW = 1024  # letters of a genome


@dataclass(frozen=True)
class WindowData:
    """Tokens (sequences, length), uint8, to learn from and held out."""

    name: str
    source: str
    train: torch.Tensor
    val: torch.Tensor
    floors: Mapping[str, float] = field(default_factory=dict)  # lowest loss by what a model sees, if known


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
