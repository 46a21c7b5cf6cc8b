#!/usr/bin/env bash
# ci: run long

# --8<-- [start:ask]
python -m snippets.precision bf16
# --8<-- [end:ask]

# --8<-- [start:nothing_automatic]
python -c "import torch; print(torch.is_autocast_enabled('mps'), torch.get_autocast_dtype('mps'))"
# --8<-- [end:nothing_automatic]

# --8<-- [start:no_tf32]
python -c "import torch; print(hasattr(torch.backends.mps, 'allow_tf32'))"
# --8<-- [end:no_tf32]

# --8<-- [start:train]
python examples/cifar_optimizers/train.py --precision bf16 --quick
# --8<-- [end:train]
