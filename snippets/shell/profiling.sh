#!/usr/bin/env bash
# ci: run long

# --8<-- [start:profile]
python examples/profile_training.py cifar_optimizers
# --8<-- [end:profile]

# --8<-- [start:activities]
python -c "import torch; print([name for name in torch.profiler.ProfilerActivity.__members__])"
# --8<-- [end:activities]
