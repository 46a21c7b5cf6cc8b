#!/usr/bin/env bash
# ci: run long

# --8<-- [start:quick]
python examples/cifar_optimizers/grid.py --optimizers lion --seeds 0,1 --quick --out runs/try_grid
# --8<-- [end:quick]

# --8<-- [start:compare]
python examples/cifar_optimizers/grid.py --optimizers sgd,adamw,muon --seeds 0,1,2 --out runs/compare
# --8<-- [end:compare]
