#!/usr/bin/env bash
# ci: no - macOS only: compares the Apple GPU with the CPU

# --8<-- [start:compare]
python examples/cifar_optimizers/compare_devices.py --device mps
python examples/cifar_optimizers/compare_devices.py --device mps --precision bf16
# --8<-- [end:compare]

# --8<-- [start:deterministic]
python -c "import torch; torch.use_deterministic_algorithms(True); e = torch.nn.Embedding(4, 2, device='mps'); e(torch.tensor([0, 0], device='mps')).sum().backward()"
# --8<-- [end:deterministic]
