#!/usr/bin/env bash
# ci: run

# --8<-- [start:compare]
python examples/cifar_optimizers/compare_devices.py
# --8<-- [end:compare]

# --8<-- [start:threads]
python -c "import torch; print(torch.get_num_threads())"
# --8<-- [end:threads]

# --8<-- [start:no_tf32]
python -c "import torch; print(hasattr(torch.backends.mps, 'allow_tf32'))"
# --8<-- [end:no_tf32]
