#!/usr/bin/env bash
# ci: run long

# --8<-- [start:train]
python examples/floorplan_diffusion/train_nodes.py --plans 16000 --batch-size 32 --epochs 18 --max-steps 8800
python examples/floorplan_diffusion/train_edges.py --plans 8000 --width 32 --lr 4e-3 --epochs 3 --max-steps 1500
# --8<-- [end:train]
