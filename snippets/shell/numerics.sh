#!/usr/bin/env bash
# ci: run long

# --8<-- [start:compare]
python examples/cifar_optimizers/compare_devices.py
# --8<-- [end:compare]

# --8<-- [start:settings]
python -c "import torch; print(torch.get_num_threads(), hasattr(torch.backends.mps, 'allow_tf32'))"
# --8<-- [end:settings]
