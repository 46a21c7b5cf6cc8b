"""The two environment variables that limit memory on MPS, checked before PyTorch reads them.

`python -m snippets.watermarks` prints the limits that the variables set for this machine.
"""

import math
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch

from snippets.errors import UsageError, exit_with_one_line

HIGH = "PYTORCH_MPS_HIGH_WATERMARK_RATIO"
LOW = "PYTORCH_MPS_LOW_WATERMARK_RATIO"
DEFAULTS = {HIGH: 1.7, LOW: 1.4}  # of recommendedMaxWorkingSetSize; MPSAllocator.h of PyTorch
HIGHEST = 2.0


@dataclass(frozen=True)
class Watermarks:
    """Memory limits as ratios of the size that Metal recommends; 0 turns a limit off.

    Allocations fail above `high`, and PyTorch empties its caches above `low`.
    """

    high: float
    low: float

    def limits(self, recommended: int) -> tuple[float, float]:
        """Return the hard and the soft limit in bytes when Metal recommends `recommended` bytes."""
        hard, soft = (ratio * recommended if ratio else math.inf for ratio in (self.high, self.low))
        return hard, soft


def check_watermarks(environment: Mapping[str, str] = os.environ) -> Watermarks:
    """Return the watermarks that PyTorch will use. Raises UsageError for values that PyTorch rejects.

    PyTorch reads the variables at the first tensor on MPS, and only reports `invalid low watermark ratio`. It
    takes text for 0, which removes the limit; here that raises UsageError.
    """
    high, low = _ratio(HIGH, environment), _ratio(LOW, environment)
    if not 0 <= high <= HIGHEST:
        raise UsageError(f"{HIGH}={high:g} is not a ratio from 0 to {HIGHEST:g}; unset it or set another")
    highest_low = high or HIGHEST
    if not 0 <= low <= highest_low:
        default = "" if LOW in environment else ", its default,"
        pair = f"{HIGH}={high:g} {LOW}={0.9 * highest_low:.3g}"
        raise UsageError(f"{LOW}={low:g}{default} is not from 0 to {highest_low:g}; set both: {pair}")
    return Watermarks(high, low)


def _ratio(name: str, environment: Mapping[str, str]) -> float:
    """Return the number in the variable `name`, or its default. Raises UsageError for other text."""
    text = environment.get(name)
    if text is None:
        return DEFAULTS[name]
    try:
        return float(text)
    except ValueError:
        raise UsageError(f"{name}={text!r} is not a number like 0.9; unset it or correct it") from None


def main(argv: Sequence[str] | None = None) -> int:
    """Print the limits as ratios and, with MPS, in GiB (2³⁰ bytes)."""
    if sys.argv[1:] if argv is None else argv:
        raise UsageError("this command takes no arguments; it reads the environment variables")
    marks = check_watermarks()
    recommended = torch.mps.recommended_max_memory() if torch.backends.mps.is_available() else None
    if recommended is None:
        print("no MPS here, so the limits are given as ratios only")
        hard, soft = (f"ratio {ratio:g}" if ratio else "none" for ratio in (marks.high, marks.low))
    else:
        print(f"Metal recommends at most {recommended / 2**30:.2f} GiB for the GPU")
        hard, soft = (f"{size / 2**30:.2f} GiB" for size in marks.limits(recommended))
    print(f"allocations fail beyond: {hard}\ncaches are emptied beyond: {soft}")
    if marks.high == 0:
        print(f"{HIGH}=0 removes the limit: a run that needs too much can freeze the Mac", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(exit_with_one_line(main))
