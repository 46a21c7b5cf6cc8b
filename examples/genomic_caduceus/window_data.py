"""Windows of a genome, in which a network learns to predict masked bases."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import torch

from examples.genomic_caduceus.genome import MOST_UNKNOWN, read_windows

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
    windows = read_windows(path, length or WINDOW, intervals)
    why = "without room in their sequence" if intervals else f"with more than {MOST_UNKNOWN:.0%} N"
    notes = [
        str(path),
        f"the windows of {intervals}" if intervals else "",
        f"windows {why}, left out: {windows.left_out:,}" if windows.left_out else "",
        windows.replaced.note(),
    ]
    source = "; ".join(filter(None, notes))
    train, val = torch.from_numpy(windows.train), torch.from_numpy(windows.val)
    return WindowData("genome", source, train, val)
