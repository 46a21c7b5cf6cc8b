#!/usr/bin/env bash
# ci: run long

# --8<-- [start:recipe]
torchrun --nproc-per-node 2 snippets/recipes/several_processes.py
# --8<-- [end:recipe]

# --8<-- [start:start]
torchrun --nproc-per-node 2 examples/two_tower/train.py --quick
# --8<-- [end:start]

# --8<-- [start:survive]
torchrun --nproc-per-node 2 --max-restarts 2 examples/two_tower/train.py --out runs/night --resume auto
# --8<-- [end:survive]
