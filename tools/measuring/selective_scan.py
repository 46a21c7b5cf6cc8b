"""Compare the selective scan with the plain loop: docs/data/results/selective_scan.yaml.

    python -m tools.measuring.selective_scan [--device cuda] [--threads 2] [--pairs 9]

speed   seconds of a forward and a backward pass of the scan alone, in turns with those of the loop, and the
        ratio loop / scan of neighbours; on a CUDA GPU also the peak of the scan beyond its inputs, and the
        seconds of a pass of the scan among 20 in a row, between which the CPU does not wait for the GPU
memory  bytes that layers of each kind keep for the backward pass, in storages that differ, the inputs
        included; on a CUDA GPU also the peak of a forward and a backward pass of one layer beyond its inputs

The entry of this machine and device is replaced, those of others stay.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

from snippets.device import pick_device
from snippets.errors import exit_with_one_line
from snippets.memory_estimate import kept_activations
from snippets.selective_scan import selective_scan, selective_scan_reference
from snippets.timing import Spread, compare, spread, time_once
from tools.measuring.result_entries import RESULTS, new_entry, rounded, store

DATA = RESULTS / "selective_scan.yaml"
Shape = tuple[int, int, int, int]  # batch, length, inner, state
LAYER: Shape = (256, 5, 1536, 128)  # whose memory is measured
SPEED: dict[str, list[Shape]] = {
    "cpu": [(64, 5, 1536, 128), (4, 1024, 236, 16), (8, 1024, 256, 16)],
    "gpu": [LAYER, (4, 1024, 236, 16), (8, 1024, 256, 16)],
}
LAYERS = {"scan": 8, "loop": 1}
SCANS = {"scan": selective_scan, "loop": selective_scan_reference}

_HEADER = """\
# By hand: shared and busy. tools/measuring/selective_scan.py writes the rest and replaces the entry of its
# machine: seconds of a forward and a backward pass, ratio: loop / scan; memory in bytes.
"""


def random_inputs(shape: Shape, device: torch.device) -> list[torch.Tensor]:
    """Return x, dt, A, B, C and D for a scan, of the sizes that they have in a network at its start."""
    batch, length, inner, state = shape
    x, dt = torch.randn(2, batch, length, inner, device=device)
    B, C = torch.randn(2, batch, length, state, device=device)
    A = -torch.arange(1.0, state + 1, device=device).repeat(inner, 1)
    inputs = (x, F.softplus(dt - 4), A, B, C, torch.ones(inner, device=device))
    return [tensor.clone().requires_grad_() for tensor in inputs]  # clones share no storage


def one_pass(scan: Callable[..., torch.Tensor], inputs: list[torch.Tensor]) -> Callable[[], object]:
    """Return a function that computes the scan, and the gradients of its inputs."""
    weights = torch.randn_like(inputs[0])
    return lambda: torch.autograd.grad(scan(*inputs), inputs, weights)


def measure_speed(shape: Shape, device: torch.device, pairs: int) -> dict[str, Any]:
    """Return the seconds of both scans at this shape, and the ratios."""
    inputs = random_inputs(shape, device)
    first, second = (one_pass(scan, inputs) for scan in SCANS.values())
    found = compare(first, second, device, warm_up=1, pairs=pairs)
    seconds = {"scan": found.first, "loop": found.second, "ratio": found.ratio}
    row = {"shape": list(shape), "pairs": pairs} | {name: rounded(part) for name, part in seconds.items()}
    if device.type == "cuda":
        row |= {"in_a_row": rounded(in_a_row(first, device)), **peak("scan", inputs)}
    return row


def in_a_row(one: Callable[[], object], device: torch.device, passes: int = 20, times: int = 9) -> Spread:
    """Return the seconds of a pass, measured several times over some that follow one another."""
    return spread([time_once(lambda: [one() for _ in range(passes)], device) / passes for _ in range(times)])


def peak(name: str, inputs: list[torch.Tensor]) -> dict[str, int]:
    """Return the peak of a forward and a backward pass beyond its inputs; nothing where it is not known."""
    if not inputs[0].is_cuda:
        return {}
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    one_pass(SCANS[name], inputs)()
    return {"peak_bytes": torch.cuda.max_memory_allocated() - before}


def measure_memory(name: str, device: torch.device) -> dict[str, Any]:
    """Return what layers of one kind keep, each fed with the output of the one before."""
    layers = [random_inputs(LAYER, device) for _ in range(LAYERS[name])]

    def forward() -> torch.Tensor:
        y = layers[0][0]
        for _, *others in layers:
            y = SCANS[name](y, *others)
        return y

    kept = kept_activations(nn.Module(), forward)
    row = {"kind": name, "shape": list(LAYER), "layers": len(layers), "kept_bytes": kept}
    return row | peak(name, layers[0])


def main(argv: Sequence[str] | None = None) -> int:
    """Measure on the wanted device and store the result; return the exit code. Raises UsageError."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="auto", choices=("auto", "cpu", "mps", "cuda"))
    parser.add_argument("--threads", type=int, default=torch.get_num_threads(), help="of the CPU")
    parser.add_argument("--pairs", type=int, default=9)
    parser.add_argument("--file", type=Path, default=DATA)
    options = parser.parse_args(argv)
    device, _ = pick_device(options.device)
    torch.set_num_threads(options.threads)
    torch.manual_seed(0)
    entry = new_entry("tools.measuring.selective_scan", device) | {"threads": options.threads}
    entry |= {"speed": [], "memory": []}
    for shape in SPEED["cpu" if device.type == "cpu" else "gpu"]:
        entry["speed"].append(measure_speed(shape, device, options.pairs))
        print(entry["speed"][-1], flush=True)
    for name in SCANS:
        entry["memory"].append(measure_memory(name, device))
        print(entry["memory"][-1], flush=True)
    store(entry, options.file, _HEADER)
    return 0


if __name__ == "__main__":
    sys.exit(exit_with_one_line(main))
