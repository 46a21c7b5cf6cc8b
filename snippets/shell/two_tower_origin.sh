#!/usr/bin/env bash
# ci: run long

# --8<-- [start:origin]
python examples/two_tower/train.py --data generated --size origin --tower ssm \
    --batch-size 256 --lr 1e-4 --max-steps 10 --out runs/origin
# --8<-- [end:origin]
