"""Compare two checkpoints bit by bit, for example of a resumed and an uninterrupted run.

`python -m snippets.compare_checkpoints A B` prints a line per part and ends with exit code 1 if they differ.
"""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch

from snippets.checkpoints import load_checkpoint
from snippets.errors import UsageError, exit_with_one_line

PARTS = ("model", "optimizers", "schedulers", "scaler", "random_states", "step")


def differences(first: Any, second: Any, place: str = "") -> Iterator[tuple[str, float]]:
    """Yield each place where two nested states differ, with the largest absolute difference there.

    It is infinite where sizes, types or values other than numbers differ. Equal means bit for bit.
    """
    if type(first) is not type(second):
        yield place, float("inf")
    elif isinstance(first, torch.Tensor):
        if first.shape != second.shape:
            yield place, float("inf")
        elif not torch.equal(first, second):
            yield place, (first.double() - second.double()).abs().max().item()
    elif isinstance(first, dict):
        for key in sorted(first.keys() | second.keys(), key=str):
            yield from differences(first.get(key), second.get(key), f"{place}.{key}")
    elif isinstance(first, list | tuple) and len(first) == len(second):
        for index, pair in enumerate(zip(first, second, strict=True)):
            yield from differences(*pair, f"{place}[{index}]")
    elif first != second:
        numbers = isinstance(first, float | int)
        yield place, abs(first - second) if numbers else float("inf")


def main(argv: Sequence[str] | None = None) -> int:
    """Print for each part how many numbers or tensors differ, and the largest difference."""
    paths = list(sys.argv[1:] if argv is None else argv)
    if len(paths) != 2:
        raise UsageError(f"expected two checkpoints, got {len(paths)} names")
    first, second = (load_checkpoint(Path(path)) for path in paths)
    equal = True
    for part in PARTS:
        found = list(differences(first[part], second[part], part))
        equal = equal and not found
        if found:
            place, largest = max(found, key=lambda difference: difference[1])
            print(f"{part:<14} {len(found)} differ, most {place}: {largest:.3g}")
        else:
            print(f"{part:<14} equal")
    return 0 if equal else 1


if __name__ == "__main__":
    sys.exit(exit_with_one_line(main))
