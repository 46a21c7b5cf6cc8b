#!/usr/bin/env bash
# ci: run long

# --8<-- [start:installed]
python -c "import torch; print(torch.__version__, torch.version.git_version)"
python -c "from importlib.metadata import *; print(version('torchvision'), requires('torchvision')[:2])"
# --8<-- [end:installed]
