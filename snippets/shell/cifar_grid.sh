#!/usr/bin/env bash
# ci: run long

# --8<-- [start:quick]
python examples/cifar_optimizers/grid.py --optimizers lion --seeds 0,1 --quick --out runs/try_grid
# --8<-- [end:quick]
