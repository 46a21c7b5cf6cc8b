"""Measure what the check of compiled networks lets pass and what it notices (snippets/compile_safely.py).

    python -m tools.measuring.compile_check [--device cuda] [--seeds 5] [--file FILE]

Four small networks are compiled by Inductor, in three formats and from several seeds. No comparison should
find anything wrong: counted is how many do, and how much of a limit the worst tensor used up. Then one
gradient after the other is made twice as large, set to zero or reversed: counted is how often it is noticed.
Gradients that are rounding alone (shaking the weights moves them by 95 % or more, and they are below a
thousandth of all gradients together) are counted apart: nothing can be said of them.

The entry of this device in docs/data/results/compile_check.yaml is replaced, those of others stay.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

from examples.cifar_optimizers.model import ResNet18
from examples.indicator_transformer.model import SIZES, IndicatorTransformer
from snippets.compile_safely import (
    ALONG_ITSELF,
    Network,
    Tensors,
    coarsest_format,
    disagreement,
    dropout_as_compiled,
    errors,
    norm,
    norm_of_gradients,
    one_pass,
    options_for,
    shaken,
)
from snippets.device import pick_device
from snippets.errors import exit_with_one_line
from snippets.precision import Precision, pick_precision
from tools.measuring.result_entries import RESULTS, new_entry, store

DATA = RESULTS / "compile_check.yaml"
FORMATS = ("fp32", "bf16", "fp16")
MISTAKES = {"doubled": 2.0, "zero": 0.0, "reversed": -1.0}  # what a wrong gradient is multiplied by
SAMPLES = 64

_HEADER = """\
# Measured by tools/measuring/compile_check.py, which replaces the entry of the device that it runs on.
# comparisons of correct compilations, how many were rejected, the largest share of a limit that one used; of
# all gradients but those that are rounding alone: how many mistakes were noticed.
"""


class Transformer(nn.Module):
    """The indicator transformer with one input and one output, like the other networks."""

    def __init__(self) -> None:
        super().__init__()
        self.network = IndicatorTransformer(20, 10, SIZES["small"])

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        """Return the logits (batch, 20) for readings and context side by side, (batch, 30)."""
        return self.network(values[:, :20], values[:, 20:])[0]


def mlp() -> nn.Module:
    """Return two layers with batch normalization and dropout, for inputs (batch, 6)."""
    return nn.Sequential(nn.Linear(6, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, 10))


def convolutions() -> nn.Module:
    """Return two convolutions with batch normalization, for images (batch, 1, 8, 8)."""
    first = [nn.Conv2d(1, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU()]
    second = [nn.Conv2d(32, 64, 3, padding=1, stride=2), nn.BatchNorm2d(64), nn.ReLU()]
    return nn.Sequential(*first, *second, nn.Flatten(), nn.Linear(64 * 4 * 4, 10))


NETWORKS: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...]]] = {  # and the shape of one input
    "mlp": (mlp, (6,)),
    "convolutions": (convolutions, (1, 8, 8)),
    "resnet": (lambda: ResNet18(10, 8), (3, 16, 16)),
    "transformer": (Transformer, (30,)),
}


def comparisons(
    name: str, precision: Precision, seeds: int, backend: str = "inductor"
) -> Iterator[tuple[Tensors, Tensors, Tensors, torch.dtype]]:
    """Yield, for each seed, loss and gradients compiled, not compiled and shaken, and their format."""
    build, shape = NETWORKS[name]
    device = precision.device
    torch._dynamo.reset()
    module = build().to(device)  # compiled once; the seeds only change its weights
    network = torch.compile(module, backend=backend, options=options_for(backend))
    for seed in range(seeds):
        torch.manual_seed(seed)
        fresh = build()
        inputs = torch.randn(SAMPLES, *shape).to(device)
        targets = torch.rand(SAMPLES, 20).to(device) if name == "transformer" else None
        labels = torch.randint(0, 10, (SAMPLES,)).to(device)

        def warm_up(net: Network, inputs: Any = inputs, targets: Any = targets, labels: Any = labels) -> Any:
            with precision.autocast():
                scores = net(inputs)
                if targets is not None:
                    return F.binary_cross_entropy_with_logits(scores, targets)
                return F.cross_entropy(scores, labels)

        module.load_state_dict(fresh.state_dict())
        dtype = coarsest_format(module, warm_up)
        torch.manual_seed(100 + seed)
        with dropout_as_compiled():
            expected, _ = one_pass(module, module, warm_up, dtype)
            with shaken(module, dtype):
                from_shaken, _ = one_pass(module, module, warm_up, dtype)
        if seed == 0:
            one_pass(network, module, warm_up, dtype)  # compiles
        found, _ = one_pass(network, module, warm_up, dtype)
        yield found, expected, from_shaken, dtype


def count(made: Iterator[tuple[Tensors, Tensors, Tensors, torch.dtype]]) -> dict[str, Any]:
    """Return what the check made of comparisons, and of each mistake in each of their gradients."""
    counts: Counter[str] = Counter()
    used = 0.0
    for found, expected, from_shaken, dtype in made:
        counts["comparisons"] += 1
        counts["rejected"] += disagreement(found, expected, from_shaken, dtype) is not None
        shares = [
            error / max(limit, 1e-30) for _, error, limit in errors(found, expected, from_shaken, dtype)
        ]
        used = max(used, *shares)
        whole = norm_of_gradients(expected)
        for name in expected.keys() - {"loss"}:
            size, shift = norm(expected[name]), norm(from_shaken[name] - expected[name])
            if shift > 0.95 * size and size < 1e-3 * whole:
                counts["rounding_alone"] += 1
                continue
            counts["gradients"] += 1
            for mistake, factor in MISTAKES.items():
                wrong = found | {name: factor * found[name]}
                counts[mistake] += disagreement(wrong, expected, from_shaken, dtype) is not None
    names = ("comparisons", "rejected", "gradients", *MISTAKES, "rounding_alone")
    return {name: counts[name] for name in names} | {"most_of_a_limit": float(f"{used:.2g}")}


def main(argv: Sequence[str] | None = None) -> int:
    """Measure on a device and store the result; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], allow_abbrev=False)
    parser.add_argument("--device", default="auto", choices=("auto", "cpu", "mps", "cuda"))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--file", type=Path, default=DATA)
    options = parser.parse_args(argv)
    device, _ = pick_device(options.device)
    entry = new_entry("tools.measuring.compile_check", device)
    entry |= {"limit_along_itself": ALONG_ITSELF, "rows": []}
    for name in NETWORKS:
        for word in FORMATS:
            precision = pick_precision(word, device)
            row = {"network": name, "format": word} | count(comparisons(name, precision, options.seeds))
            print(row, flush=True)
            entry["rows"].append(row)
    store(entry, options.file, _HEADER)
    return 0


if __name__ == "__main__":
    sys.exit(exit_with_one_line(main))
