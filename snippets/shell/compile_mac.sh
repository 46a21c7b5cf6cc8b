#!/usr/bin/env bash
# ci: no - macOS only: compiles for the GPU of a Mac

# --8<-- [start:train]
python examples/cifar_optimizers/train.py --device mps --compile
# --8<-- [end:train]

# --8<-- [start:layout]
TORCHINDUCTOR_LAYOUT_OPTIMIZATION=0 \
  python examples/cifar_optimizers/train.py --device mps --compile
# --8<-- [end:layout]

# --8<-- [start:logs]
TORCH_LOGS=recompiles,graph_breaks \
  python examples/cifar_optimizers/train.py --device mps --compile --quick
# --8<-- [end:logs]

# --8<-- [start:kernels]
TORCH_LOGS=output_code python -c \
  "import torch; print(torch.compile(lambda x: (x.sin() + 1).relu())(torch.randn(8, device='mps')))"
# --8<-- [end:kernels]
