#!/usr/bin/env bash
# ci: no - macOS only: asks the GPU of a Mac

# --8<-- [start:on_mps]
python -m snippets.precision bf16 mps
python -m snippets.precision fp16 mps
# --8<-- [end:on_mps]

# --8<-- [start:matmul_precision]
python -c "import torch; a = torch.randn(512, 512, device='mps'); before = a @ a; \
  torch.set_float32_matmul_precision('medium'); print(torch.equal(before, a @ a))"
# --8<-- [end:matmul_precision]

# --8<-- [start:float64]
python -c "import torch; torch.zeros(1, dtype=torch.float64).to('mps')"
# --8<-- [end:float64]

# --8<-- [start:two_runs]
python examples/cifar_optimizers/train.py --device mps --precision fp32 --seed 0
python examples/cifar_optimizers/train.py --device mps --precision bf16 --seed 0
# --8<-- [end:two_runs]
