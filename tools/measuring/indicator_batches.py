"""Measure the indicator transformer at several batch sizes: docs/data/results/indicator_batches.yaml.

    python -m tools.measuring.indicator_batches [--device cuda] [--batch-sizes 16,64,256]

Each batch size is trained in four ways: as written, in bf16, compiled, and compiled with CUDA graphs, which
replay the launches of a whole pass as one; these need CUDA. A way that fails is stored with its reason.
The entry of this machine and device is replaced, those of others stay. Flags that the tool does not know are
those of the training; without any, the guide's network is measured.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import nn

from examples.benchmarking.options import whole_numbers
from examples.benchmarking.steps import Plan, time_steps
from examples.indicator_transformer.train import PROGRAM
from snippets.device import pick_device
from snippets.errors import exit_with_one_line
from snippets.timing import spread
from tools.measuring.result_entries import RESULTS, new_entry, store

DATA = RESULTS / "indicator_batches.yaml"
BATCH_SIZES = "16,32,64,128,256,512"
_HEADER = """\
# Measured by tools/measuring/indicator_batches.py: milliseconds per training step (median, 10 % and 90 %
# quantile), samples per second, seconds of the first step, MB (10^6 bytes) that the GPU's allocator held.
"""


def as_it_is(model: nn.Module) -> nn.Module:
    """Return the network itself."""
    return model


def with_cuda_graphs(model: nn.Module) -> nn.Module:
    """Return the network compiled to run as recorded CUDA graphs."""
    return torch.compile(model, mode="reduce-overhead", dynamic=False)


def compiled(model: nn.Module) -> nn.Module:
    """Return the network compiled for the shapes that it meets."""
    return torch.compile(model, dynamic=False)


WAYS: dict[str, tuple[str, Callable[[nn.Module], nn.Module]]] = {
    "fp32": ("fp32", as_it_is),
    "bf16": ("bf16", as_it_is),
    "bf16+compile": ("bf16", compiled),
    "bf16+compile+graphs": ("bf16", with_cuda_graphs),
}


def measure_way(words: list[str], way: str, plan: Plan) -> dict[str, Any]:
    """Return speed and memory of the training with the flags `words`, computed in the way called `way`."""
    precision, change = WAYS[way]
    torch._dynamo.reset()
    task = PROGRAM.prepare(
        PROGRAM.read_command_line([*words, "--precision", precision])
        | {"epochs": plan.most_steps, "max_steps": plan.most_steps}
    )
    task.network = change(task.state.model)
    found = time_steps(task, plan)
    times = spread(found["seconds"])
    return {
        "step_ms": round(1e3 * times.median, 4),
        "low_ms": round(1e3 * times.low, 4),
        "high_ms": round(1e3 * times.high, 4),
        "samples_per_s": round(found["samples_per_s"], 1),
        "first_step_s": round(found["first_step_s"], 2),
        "memory_mb": found["memory_mb"],
        "last_loss": round(found["losses"][-1], 4),
    }


def measure(
    device: torch.device, batch_sizes: list[int], words: list[str], plan: Plan
) -> list[dict[str, Any]]:
    """Return a row for each batch size and way, with "reason" instead of figures where it failed."""
    rows = []
    ways = [way for way in WAYS if device.type == "cuda" or not way.endswith("graphs")]
    for size in batch_sizes:
        for way in ways:
            flags = ["--device", device.type, "--batch-size", str(size), *words]
            try:
                found = measure_way(flags, way, plan)
            except RuntimeError as error:
                found = {"reason": str(error).partition("\n")[0][:200]}
            print(f"{size:5d} {way:20} {found}", flush=True)
            rows.append({"batch_size": size, "way": way} | found)
    return rows


def main(argv: Sequence[str] | None = None) -> int:
    """Measure on the wanted device and store the result; return the exit code. Raises UsageError."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="auto", choices=("auto", "cpu", "mps", "cuda"))
    parser.add_argument("--batch-sizes", default=BATCH_SIZES, type=lambda text: whole_numbers(text, 1, 10**6))
    parser.add_argument("--steps", type=int, default=Plan.readings)
    parser.add_argument("--warm-up", type=int, default=Plan.warm_up)
    parser.add_argument("--file", type=Path, default=DATA)
    options, words = parser.parse_known_args(argv)
    device, _ = pick_device(options.device)
    words = words or ["--size", "origin", "--bars", "120000"]
    entry = new_entry("tools.measuring.indicator_batches", device) | {"training": shlex.join(words)}
    entry["rows"] = measure(device, options.batch_sizes, words, Plan(options.warm_up, options.steps))
    store(entry, options.file, _HEADER, same=("device", "machine"))
    return 0


if __name__ == "__main__":
    sys.exit(exit_with_one_line(main))
