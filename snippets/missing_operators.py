"""Explain errors about operators that MPS lacks, and count the silent fallbacks to the CPU."""

import contextlib
import re
import warnings
from collections import Counter
from collections.abc import Iterator

import torch

from snippets.errors import Option, RunError

# The messages of PyTorch 2.15.
ERROR = re.compile(r"The operator '(?:aten::)?([\w:.]+)' is not currently implemented for the MPS device")
FALLBACK = re.compile(
    r"The operator '(?:aten::)?([\w:.]+)' is not currently supported on the MPS backend and"
)


def missing_operator(error: BaseException) -> RunError | None:
    """Return a one-line error with remedies for PyTorch's error about a missing operator, else None."""
    found = ERROR.search(str(error)) if isinstance(error, NotImplementedError) else None
    if found is None:
        return None
    return RunError(
        f"MPS has no operator {found[1]!r} in PyTorch {torch.__version__}; replace it, or continue on the "
        "CPU with ",
        Option("device", "cpu"),
        ", or set PYTORCH_ENABLE_MPS_FALLBACK=1 in the shell and start again",
    )


# --8<-- [start:count]
@contextlib.contextmanager
def count_fallbacks() -> Iterator[Counter[str]]:
    """Count the operators that run on the CPU instead of MPS inside the `with` block, by name.

    By default PyTorch warns only of the first one in a process; here warnings repeat. The counter is filled
    when the block ends. Other warnings are passed on. Only one thread at a time may use this.
    """
    counts: Counter[str] = Counter()
    repeated = torch.is_warn_always_enabled()
    torch.set_warn_always(True)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield counts
    finally:
        torch.set_warn_always(repeated)
        for warning in caught:
            if found := FALLBACK.search(str(warning.message)):
                counts[found[1]] += 1
            else:
                warnings.warn_explicit(
                    warning.message, warning.category, warning.filename, warning.lineno, source=warning.source
                )


# --8<-- [end:count]
