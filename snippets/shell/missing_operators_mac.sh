#!/usr/bin/env bash
# ci: no - macOS only: needs an Apple GPU that lacks an operator

# --8<-- [start:error]
python -c "import torch; torch.linalg.eig(torch.eye(2, device='mps'))"
# --8<-- [end:error]

# --8<-- [start:fallback]
PYTORCH_ENABLE_MPS_FALLBACK=1 python -c "import torch; torch.linalg.eig(torch.eye(2, device='mps'))"
# --8<-- [end:fallback]

# --8<-- [start:too_late]
python -c "import os, torch; os.environ['PYTORCH_ENABLE_MPS_FALLBACK'] = '1'; torch.linalg.eig(torch.eye(2, device='mps'))"
# --8<-- [end:too_late]

# --8<-- [start:restart]
python examples/cifar_optimizers/train.py --resume runs/cifar_optimizers/my-run --device cpu
# --8<-- [end:restart]
