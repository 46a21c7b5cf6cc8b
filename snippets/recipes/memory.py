"""Read the memory of this process: what Metal has given it, on a CPU its peak."""

# --8<-- [start:recipe]
import sys
from resource import RUSAGE_SELF, getrusage

import torch

device = "mps" if torch.backends.mps.is_available() else "cpu"


def memory():
    if device == "mps":
        tensors = torch.mps.current_allocated_memory()
        held = torch.mps.driver_allocated_memory()
        return f"tensors {tensors / 1e6:.0f} MB, held {held / 1e6:.0f} MB"
    peak = getrusage(RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return f"peak of the process {peak / 1e6:.0f} MB"


x = torch.ones(25_000_000, device=device)  # 100 MB
print("with 100 MB more:", memory())
del x
print("without them:", memory())
# --8<-- [end:recipe]
