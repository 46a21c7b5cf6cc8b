#!/usr/bin/env bash
# ci: no - macOS only: the variables are those of the MPS backend and of Metal

# --8<-- [start:statistics]
PYTORCH_MPS_LOG_PROFILE_INFO=8 PYTORCH_MPS_TRACE_SIGNPOSTS=4 \
  python examples/cifar_optimizers/train.py --device mps --quick 2> statistics.txt
# --8<-- [end:statistics]

# --8<-- [start:signposts]
PYTORCH_MPS_TRACE_SIGNPOSTS=2 python examples/cifar_optimizers/train.py --device mps
# --8<-- [end:signposts]

# --8<-- [start:capture-enabled]
MTL_CAPTURE_ENABLED=1 python -c \
  "import torch; print(torch.mps.profiler.is_metal_capture_enabled())"
# --8<-- [end:capture-enabled]

# --8<-- [start:profile-mps]
python examples/profile_training.py cifar_optimizers --device mps
# --8<-- [end:profile-mps]
