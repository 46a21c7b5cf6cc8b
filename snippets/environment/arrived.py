"""Which variables for PyTorch arrived, and whether it may have read them already."""

# --8<-- [start:arrived]
import os
import sys

prefixes = ("PYTORCH_", "TORCH", "MTL_", "OMP_", "MKL_", "KMP_", "DISABLE_MPS")
for name in sorted(os.environ):
    if name.startswith(prefixes):
        print(f"{name}={os.environ[name]!r}")
print("torch is already imported:", "torch" in sys.modules)
# --8<-- [end:arrived]
