"""Measure memory and time of a training step of stage 2: docs/data/results/floorplan_memory.yaml.

    python -m tools.measuring.floorplan_memory [--device cuda] [--batch-size 8] [--corners 53] [--rounds 20]

The network of the size `origin` learns from random plans, all of which have `--corners` corners. A step is
computed in these forms:

ordered           all ordered pairs, a corner with itself included: 53² tokens, as in the guide's system
once              pairs of different corners, each once, as the program trains
once_real         the same, of plans with 20 to 40 of 53 corners: only pairs up to the largest plan are there
…_fused           PyTorch chooses how attention is computed; without it, all scores are computed and kept
                  (SDPBackend.MATH), which is what MPS does when it trains
…_bf16            under autocast; without it, everything is float32
…_recomputed      of each layer only the input is kept, and backward computes the rest again

Of each form, in bytes and seconds:

tokens       pairs of one plan
kept_bytes   what the forward pass keeps, each storage counted once, without weights
peak_bytes   on CUDA: the most that was allocated, less always_bytes: weights, gradients, optimizer states
seconds      of a step; the forms take turns
ratio        of its seconds to those of `ordered` in the same turn

The entry of this machine, device, batch size and number of corners is replaced, others stay. A CPU takes
some minutes with `--batch-size 2 --corners 24`.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

from examples.floorplan_diffusion.edge_network import EdgeNetwork, all_pairs
from examples.floorplan_diffusion.options import EDGE_RECIPES, EDGE_SIZES
from examples.floorplan_diffusion.plans import CANVAS, KINDS, MOST_CORNERS
from snippets.device import pick_device
from snippets.errors import exit_with_one_line
from snippets.memory_estimate import kept_activations, training_memory
from snippets.timing import spread, time_once
from tools.measuring.result_entries import RESULTS, new_entry, rounded, store

DATA = RESULTS / "floorplan_memory.yaml"
SIZE = EDGE_SIZES["origin"]
RECIPE = EDGE_RECIPES["folder"]
SMALLEST, LARGEST = 20 / MOST_CORNERS, 40 / MOST_CORNERS  # of `once_real`, evenly spread between them
WARM_UP = 1
ROUNDS = {"cpu": 3, "gpu": 20}

_HEADER = """\
# Measured by tools/measuring/floorplan_memory.py, which says what each value is, and which replaces the entry
# of the machine, batch size and number of corners that it measures. Bytes, and seconds.
"""


def ordered_pairs(corners: int, device: torch.device) -> torch.Tensor:
    """Return all ordered pairs of corners, (2, corners²)."""
    numbers = torch.arange(corners, device=device)
    return torch.cartesian_prod(numbers, numbers).T


@dataclass(frozen=True)
class Form:
    """How a step is computed."""

    pairs: Callable[[int, torch.device], torch.Tensor] = all_pairs
    real: bool = False  # plans of different sizes
    fused: bool = False
    bf16: bool = False
    recompute: bool = False


FORMS = {
    "ordered": Form(ordered_pairs),
    "ordered_recomputed": Form(ordered_pairs, recompute=True),
    "once": Form(),
    "once_recomputed": Form(recompute=True),
    "once_real_recomputed": Form(real=True, recompute=True),
    "once_fused": Form(fused=True),
    "once_fused_recomputed": Form(fused=True, recompute=True),
    "once_fused_bf16": Form(fused=True, bf16=True),
    "once_fused_bf16_recomputed": Form(fused=True, bf16=True, recompute=True),
}


class Step:
    """A training step of stage 2 on random plans; calling it learns."""

    def __init__(self, batch_size: int, corners: int, device: torch.device) -> None:
        """Make network, optimizer and plans, in which A and B have the same wall and point as B and A."""
        self.model = EdgeNetwork(SIZE["width"], SIZE["layers"]).to(device)
        self.optimizer = adamw(self.model)
        self.always_bytes = training_memory(self.model, lambda model: [adamw(model)]).total
        self.device = device
        self.corners = CANVAS * torch.rand(batch_size, corners, 2, device=device)
        self.bits = (torch.rand(batch_size, corners, len(KINDS), device=device) < 0.3).float()
        either = torch.rand(2, batch_size, corners, corners, device=device)
        self.fractions, walls = torch.maximum(either, either.mT)
        self.walls = (walls > 0.9).long()
        limits = [round(share * corners) for share in (SMALLEST, LARGEST)]
        self.counts = {  # corners of each plan, by Form.real
            False: torch.full((batch_size,), corners),
            True: torch.linspace(*limits, batch_size).round().long(),
        }

    def pairs(self, form: Form) -> torch.Tensor:
        """Return the pairs of all places for corners, (2, pairs)."""
        return form.pairs(int(self.counts[form.real].max()), self.device)

    def loss(self, form: Form) -> torch.Tensor:
        """Return the loss of the batch, as examples/floorplan_diffusion/train_edges.py does without noise."""
        a, b = pairs = self.pairs(form)
        real = pairs.amax(0) < self.counts[form.real].to(self.device).unsqueeze(1)
        fractions = self.fractions[:, a, b]
        with torch.autocast(self.device.type, torch.bfloat16, enabled=form.bf16):
            scores, guessed = self.model(self.corners, self.bits, pairs, real, fractions)
        of_walls = F.cross_entropy(scores.float().mT, self.walls[:, a, b], reduction="none")
        of_fractions = (guessed.float() - torch.minimum(fractions, 1 - fractions)).abs()
        return ((of_walls + of_fractions) * real).sum() / real.sum()

    def kept(self, form: Form) -> int:
        """Return the bytes that the forward pass keeps."""
        with self.computed(form):
            return kept_activations(self.model, lambda: self.loss(form))

    def __call__(self, form: Form) -> None:
        """Change the weights once."""
        with self.computed(form):
            self.loss(form).backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.optimizer.zero_grad()

    def computed(self, form: Form) -> contextlib.AbstractContextManager:
        """Return a context for forward and backward, and tell the network whether to recompute."""
        self.model.layers.recompute = form.recompute
        return contextlib.nullcontext() if form.fused else sdpa_kernel(SDPBackend.MATH)


def adamw(model: nn.Module) -> torch.optim.Optimizer:
    """Return the optimizer of the program, with the settings for files."""
    return torch.optim.AdamW(model.parameters(), RECIPE["lr"], weight_decay=RECIPE["weight_decay"])


def measure_steps(step: Step, device: torch.device, rounds: int) -> dict[str, dict[str, Any]]:
    """Return seconds of a step in each form and, on CUDA, its peak. In every round, another is first."""
    seconds: dict[str, list[float]] = {name: [] for name in FORMS}
    peaks = dict.fromkeys(FORMS, 0)
    for number in range(-WARM_UP, rounds):
        for place in range(len(FORMS)):
            name = list(FORMS)[(number + place) % len(FORMS)]
            if device.type == "cuda":
                torch.cuda.reset_peak_memory_stats()
            took = time_once(lambda: step(FORMS[name]), device)  # noqa: B023 - called at once
            if number >= 0:
                seconds[name].append(took)
                peaks[name] = max(peaks[name], torch.cuda.max_memory_allocated() - step.always_bytes)
    return {
        name: ({"peak_bytes": peaks[name]} if device.type == "cuda" else {})
        | {"seconds": rounded(spread(found))}
        | {"ratio": rounded(spread([a / b for a, b in zip(found, seconds["ordered"], strict=True)]))}
        for name, found in seconds.items()
    }


def in_words(row: dict[str, Any]) -> str:
    """Return one line about one form."""
    peak = f", peak {row['peak_bytes'] / 1e9:.4g} GB" if "peak_bytes" in row else ""
    seconds = row["seconds"]
    return (
        f"{row['form']:<27}{row['tokens']:>5} tokens, keeps {row['kept_bytes'] / 1e9:.4g} GB{peak}, "
        f"{seconds['median']:.4g} s ({seconds['low']:.4g} to {seconds['high']:.4g}), "
        f"{row['ratio']['median']:.3g} × ordered"
    )


def measure(batch_size: int, corners: int, device: torch.device, rounds: int) -> dict[str, Any]:
    """Return the entry of this machine: where, when, and what came out."""
    torch.manual_seed(0)
    step = Step(batch_size, corners, device)
    steps = measure_steps(step, device, rounds)  # first: nothing else is in memory then
    return new_entry("tools.measuring.floorplan_memory", device) | {
        "threads": torch.get_num_threads(),
        "parameters": sum(weights.numel() for weights in step.model.parameters()),
        "batch_size": batch_size,
        "corners": corners,
        "real_corners": step.counts[True].tolist(),
        "always_bytes": step.always_bytes,
        "rounds": rounds,
        "forms": [
            {"form": name, "tokens": step.pairs(form).shape[1], "kept_bytes": step.kept(form)} | steps[name]
            for name, form in FORMS.items()
        ],
    }


def main(argv: Sequence[str] | None = None) -> int:
    """Measure on the wanted device, print and store the result; return the exit code. Raises UsageError."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="auto", choices=("auto", "cpu", "mps", "cuda"))
    parser.add_argument("--batch-size", type=int, default=RECIPE["batch_size"])
    parser.add_argument("--corners", type=int, default=MOST_CORNERS)
    parser.add_argument("--rounds", type=int, help=f"to time; {ROUNDS['gpu']}, on a CPU {ROUNDS['cpu']}")
    parser.add_argument("--file", type=Path, default=DATA)
    options = parser.parse_args(argv)
    device, _ = pick_device(options.device)
    rounds = options.rounds or ROUNDS["cpu" if device.type == "cpu" else "gpu"]
    entry = measure(options.batch_size, options.corners, device, rounds)
    for row in entry["forms"]:
        print(in_words(row))
    store(entry, options.file, _HEADER, same=("device", "machine", "batch_size", "corners"))
    return 0


if __name__ == "__main__":
    sys.exit(exit_with_one_line(main))
