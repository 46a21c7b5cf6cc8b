#!/usr/bin/env bash
# ci: run long

# --8<-- [start:accumulate]
python examples/cifar_optimizers/train.py --batch-size 32 --accumulate 2 --quick
# --8<-- [end:accumulate]
