#!/usr/bin/env bash
# ci: run long

# --8<-- [start:train]
python examples/cifar_optimizers/train.py
# --8<-- [end:train]

# --8<-- [start:quick]
python examples/cifar_optimizers/train.py --quick
# --8<-- [end:quick]
