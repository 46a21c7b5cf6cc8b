"""Show how the error of a sum grows with the number of values, in each floating-point format.

`python -m snippets.sum_errors` prints it as docs/data/results/sum_errors.yaml stores it.
"""

import sys
from collections.abc import Sequence

import torch

from snippets.errors import UsageError, exit_with_one_line

FORMATS = {"float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16}
SIZES = (4, 16, 64, 256, 1024, 4096, 16384, 65536)
SUMS = 16  # whose errors are averaged


def sum_errors(dtype: torch.dtype, sizes: Sequence[int] = SIZES) -> list[float]:
    """Return the mean relative error of sums of `sizes` values between 0 and 1.

    Values are added one after another, and every sum is rounded to `dtype`. The reference in float64 adds the
    same values, so that only the additions count.
    """
    generator = torch.Generator().manual_seed(0)
    values = torch.rand(max(sizes), SUMS, generator=generator).to(dtype)
    exact = values.double().cumsum(0)
    total, errors = torch.zeros(SUMS, dtype=dtype), []
    for count, value in enumerate(values, 1):
        total = total + value
        if count in sizes:
            errors.append(((total.double() - exact[count - 1]) / exact[count - 1]).abs().mean().item())
    return errors


def main(argv: Sequence[str] | None = None) -> int:
    """Print the errors of every format."""
    words = list(sys.argv[1:] if argv is None else argv)
    if words:
        raise UsageError(f"expected no argument, got {' '.join(words)!r}")
    for name, dtype in FORMATS.items():
        print(f"- {{format: {name}, errors: [{', '.join(f'{error:.2e}' for error in sum_errors(dtype))}]}}")
    return 0


if __name__ == "__main__":
    sys.exit(exit_with_one_line(main))
