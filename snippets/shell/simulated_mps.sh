#!/usr/bin/env bash
# ci: no - network: needs the environment with PyTorch's build without CUDA, which is a download

# --8<-- [start:run]
python -m simulated_mps examples/cifar_optimizers/train.py --device mps --quick
# --8<-- [end:run]

# --8<-- [start:as_torch]
python -m simulated_mps --as-torch 2.12 train.py
# --8<-- [end:as_torch]

# --8<-- [start:module]
python -m simulated_mps -m torch.distributed.run --standalone --nproc-per-node 2 train.py
# --8<-- [end:module]

# --8<-- [start:variable]
SIMULATED_MPS=1 torchrun --standalone --nproc-per-node 2 train.py
# --8<-- [end:variable]

# --8<-- [start:fallback]
PYTORCH_ENABLE_MPS_FALLBACK=1 python -m simulated_mps train.py
# --8<-- [end:fallback]

# --8<-- [start:pytest]
pytest --simulated-mps --as-torch 2.12 device_test.py
# --8<-- [end:pytest]

# --8<-- [start:gate]
pytest --simulated-mps \
    --simulated-mps-fail-on missing,fallback,float64,waits \
    --simulated-mps-baseline mps-known.txt
# --8<-- [end:gate]
