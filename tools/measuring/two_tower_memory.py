"""Measure memory and time of a training step of the two towers: docs/data/results/two_tower_memory.yaml.

    python -m tools.measuring.two_tower_memory [--device cuda] [--batch-size 256] [--rounds 20]

Towers of the size `origin`, for vectors of 768 numbers, learn from random ones in float32. A step is computed
in three ways that lead to the same weights:

scan        `selective_scan`, as the program trains
loop        `selective_scan_reference`: the recurrence as a plain loop, of which autograd keeps what it likes
recomputed  that loop; of each block only the input is kept, and backward computes the rest again

Of each way, in bytes and seconds:

scans_bytes  what the scans of all blocks keep for the backward pass, their inputs included
kept_bytes   what the whole forward pass keeps, each storage counted once, without weights
peak_bytes   on CUDA: the most that was allocated, less always_bytes: weights, gradients, optimizer states
seconds      of a step; the three ways take turns

The entry of this machine, device and batch size is replaced, others stay. A CPU takes seconds with
`--batch-size 8`.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch
from torch import nn
from torch.nn import functional as F

from examples.two_tower import model as two_tower
from examples.two_tower.loss import info_nce
from examples.two_tower.options import SIZES
from snippets.device import pick_device
from snippets.errors import exit_with_one_line
from snippets.memory_estimate import kept_activations, training_memory
from snippets.recompute import run_recomputed
from snippets.selective_scan import selective_scan, selective_scan_reference
from snippets.timing import spread, time_once
from tools.measuring.result_entries import RESULTS, new_entry, rounded, store

DATA = RESULTS / "two_tower_memory.yaml"
_ORIGIN = SIZES["origin"]
SHAPE = two_tower.Shape(_ORIGIN["width"], _ORIGIN["layers"], state=_ORIGIN["state"])
WIDTH_IN, POSITIONS, EXTRA = 768, 5, 4  # as in the origin: 3 negatives of the own article, 1 near miss
WAYS = {"scan": selective_scan, "loop": selective_scan_reference, "recomputed": selective_scan_reference}
WARM_UP = 1
ROUNDS = {"cpu": 3, "gpu": 20}

_HEADER = """\
# Measured by tools/measuring/two_tower_memory.py, which says what each value is, and which replaces the entry
# of the machine and batch size that it measures. Bytes, and seconds.
"""


class Step:
    """A training step of two towers; calling it learns."""

    def __init__(self, batch_size: int, device: torch.device) -> None:
        """Make towers, optimizer and a batch of random unit vectors."""
        self.model = two_tower.TwoTowers(WIDTH_IN, SHAPE).to(device)
        self.optimizer = adamw(self.model)
        self.always_bytes = training_memory(self.model, lambda model: [adamw(model)]).total

        def vectors(*shape: int) -> torch.Tensor:
            return F.normalize(torch.randn(*shape, WIDTH_IN, device=device), dim=-1)

        self.batch = vectors(batch_size, POSITIONS), vectors(batch_size)
        self.extra = vectors(batch_size, EXTRA)
        self.no_negative = torch.zeros(batch_size, batch_size, dtype=torch.bool, device=device)
        self.missing = torch.zeros(batch_size, EXTRA, dtype=torch.bool, device=device)

    def loss(self) -> torch.Tensor:
        """Return the loss of the batch."""
        contexts, payloads, scale = self.model(*self.batch)
        return info_nce(contexts, payloads, scale, self.extra, self.no_negative, self.missing)[0]

    def __call__(self) -> None:
        """Change the weights once, as examples/two_tower/train.py does."""
        self.loss().backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.optimizer.zero_grad()


def adamw(model: nn.Module) -> torch.optim.Optimizer:
    """Return the optimizer of the program, with the rate for files."""
    return torch.optim.AdamW(model.parameters(), 1e-4, weight_decay=0.01)


class Recomputed(nn.Sequential):
    """Blocks of which only the inputs are kept."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return `x` (batch, positions, width) after all blocks."""
        return run_recomputed(self, x)


@contextlib.contextmanager
def computed(model: two_tower.TwoTowers, way: str) -> Iterator[None]:
    """Within this context, the towers compute in one of the WAYS, forward and backward."""
    blocks = model.context.layers
    if way == "recomputed":
        model.context.layers = Recomputed(*blocks)
    try:
        with patch.object(two_tower, "selective_scan", WAYS[way]):
            yield
    finally:
        model.context.layers = blocks


def scan_inputs(step: Step) -> list[tuple[torch.Tensor, ...]]:
    """Return what the scans of all blocks are given in a forward pass."""
    found = []

    def note(*inputs: torch.Tensor) -> torch.Tensor:
        found.append(inputs)
        return selective_scan(*inputs)

    with patch.object(two_tower, "selective_scan", note):
        step.loss()
    return found


def measure_kept(step: Step) -> dict[str, dict[str, int]]:
    """Return the bytes that each way keeps for the backward pass: of the scans, and of the whole step."""
    found: dict[str, dict[str, int]] = {}
    for way, scan in WAYS.items():
        found[way] = {}
        if way != "recomputed":  # its scans run again, one block after the other
            inputs = scan_inputs(step)
            kept = kept_activations(step.model, lambda: [scan(*each) for each in inputs])  # noqa: B023
            found[way]["scans_bytes"] = kept
            del inputs
        with computed(step.model, way):
            found[way]["kept_bytes"] = kept_activations(step.model, step.loss)
    return found


def measure_steps(step: Step, device: torch.device, rounds: int) -> dict[str, dict[str, Any]]:
    """Return the seconds of a step in each way and, on CUDA, its peak. In every round, another is first."""
    seconds: dict[str, list[float]] = {way: [] for way in WAYS}
    peaks = dict.fromkeys(WAYS, 0)
    for number in range(-WARM_UP, rounds):
        for place in range(len(WAYS)):
            way = list(WAYS)[(number + place) % len(WAYS)]
            if device.type == "cuda":
                torch.cuda.reset_peak_memory_stats()
            with computed(step.model, way):
                took = time_once(step, device)
            if number >= 0:
                seconds[way].append(took)
                peaks[way] = max(peaks[way], torch.cuda.max_memory_allocated() - step.always_bytes)
    return {
        way: ({"peak_bytes": peaks[way]} if device.type == "cuda" else {})
        | {"seconds": rounded(spread(seconds[way]))}
        for way in WAYS
    }


def in_words(row: dict[str, Any]) -> str:
    """Return one line about one way."""
    bytes_of = {"scans_bytes": "scans keep", "kept_bytes": "step keeps", "peak_bytes": "peak"}
    parts = [f"{name} {row[key] / 1e9:.4g} GB" for key, name in bytes_of.items() if key in row]
    seconds = row["seconds"]
    time = f"{seconds['median']:.4g} s ({seconds['low']:.4g} to {seconds['high']:.4g})"
    return f"{row['way']:<12}{', '.join(parts)}, {time}"


def measure(batch_size: int, device: torch.device, rounds: int) -> dict[str, Any]:
    """Return the entry of this machine: where, when, and what came out."""
    torch.manual_seed(0)
    step = Step(batch_size, device)
    steps = measure_steps(step, device, rounds)  # first: nothing else is in memory then
    kept = measure_kept(step)
    return new_entry("tools.measuring.two_tower_memory", device) | {
        "threads": torch.get_num_threads(),
        "parameters": two_tower.parameter_count(step.model),
        "batch_size": batch_size,
        "always_bytes": step.always_bytes,
        "rounds": rounds,
        "ways": [{"way": way} | kept[way] | steps[way] for way in WAYS],
    }


def main(argv: Sequence[str] | None = None) -> int:
    """Measure on the wanted device, print and store the result; return the exit code. Raises UsageError."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="auto", choices=("auto", "cpu", "mps", "cuda"))
    parser.add_argument("--batch-size", type=int, default=256)
    parser.add_argument("--rounds", type=int, help=f"to time; {ROUNDS['gpu']}, on a CPU {ROUNDS['cpu']}")
    parser.add_argument("--file", type=Path, default=DATA)
    options = parser.parse_args(argv)
    device, _ = pick_device(options.device)
    rounds = options.rounds or ROUNDS["cpu" if device.type == "cpu" else "gpu"]
    entry = measure(options.batch_size, device, rounds)
    for row in entry["ways"]:
        print(in_words(row))
    store(entry, options.file, _HEADER, same=("device", "machine", "batch_size"))
    return 0


if __name__ == "__main__":
    sys.exit(exit_with_one_line(main))
