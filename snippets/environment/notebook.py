"""The first cell of a notebook: a variable for PyTorch, before PyTorch is imported."""

# --8<-- [start:cell]
import os
import sys

if "torch" in sys.modules:
    raise RuntimeError("too late: restart the kernel, then run this cell first")
os.environ["PYTORCH_ENABLE_MPS_FALLBACK"] = "1"

import torch
# --8<-- [end:cell]
