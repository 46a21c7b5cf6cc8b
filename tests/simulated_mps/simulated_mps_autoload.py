"""What PyTorch calls at the end of `import torch` (entry point "torch.backends" of pyproject.toml).

So processes that a program starts have the device: by spawn, by torchrun, by any command. It is a module of
its own because every program of the environment runs it: without the variable it must cost nothing.
"""

import os
import sys


def enable_if_asked() -> None:
    """Enable the device where SIMULATED_MPS is 1, or a release such as 2.12; end the process if it fails."""
    asked = os.environ.get("SIMULATED_MPS", "0")
    if asked in ("", "0"):
        return
    from simulated_mps.device import enable
    from simulated_mps.errors import SimulationError

    try:
        enable(None if asked == "1" else asked)
    except SimulationError as error:  # PyTorch would show two tracebacks, and advise something else
        print(f"error: SIMULATED_MPS={asked}: {error}", file=sys.stderr)
        sys.exit(2)
