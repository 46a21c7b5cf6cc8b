#!/usr/bin/env bash
# ci: no - macOS only: the commands need an MPS device

# --8<-- [start:workers]
python examples/cifar_optimizers/train.py --device mps
python examples/cifar_optimizers/train.py --device mps --workers 2
# --8<-- [end:workers]

# --8<-- [start:copy]
python -c "import torch; a = torch.zeros(1); b = a.to('mps'); a += 1; print(b.item())"
# --8<-- [end:copy]

# --8<-- [start:non_blocking]
python -m snippets.data_on_device mps
# --8<-- [end:non_blocking]
