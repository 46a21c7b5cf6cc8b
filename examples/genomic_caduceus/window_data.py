"""Windows of a genome, in which a network learns to predict masked bases."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import torch

from examples.genomic_caduceus.genome import read_windows

WINDOW = 1024  # letters of a genome


@dataclass(frozen=True)
class WindowData:
    """Training and held-out tokens, each (sequences, length), uint8."""

    name: str
    source: str
    train: torch.Tensor
    val: torch.Tensor
    floors: Mapping[str, float] = field(default_factory=dict)  # lowest loss by the visible context, if known


def genome_data(path: Path, length: int | None, intervals: Path | None) -> WindowData:
    """Return windows of a genome. Raises UsageError."""
    train, val = read_windows(path, length or WINDOW, intervals)
    return WindowData("genome", str(path), torch.from_numpy(train), torch.from_numpy(val))
