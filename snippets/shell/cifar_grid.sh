#!/usr/bin/env bash
# ci: run long

# --8<-- [start:compare]
python examples/cifar_optimizers/grid.py --optimizers sgd,adamw,muon --seeds 0,1,2 --out runs/compare
# --8<-- [end:compare]
