#!/usr/bin/env bash
# ci: no - interactive: one command in each of two terminals; tests/site/test_several_nodes.py starts both

# --8<-- [start:first]
torchrun --nnodes 2 --node-rank 0 --nproc-per-node 1 --master-addr 127.0.0.1 --master-port 29511 \
    examples/two_tower/train.py --quick --out runs/two_machines
# --8<-- [end:first]

# --8<-- [start:second]
torchrun --nnodes 2 --node-rank 1 --nproc-per-node 1 --master-addr 127.0.0.1 --master-port 29511 \
    examples/two_tower/train.py --quick --out runs/two_machines
# --8<-- [end:second]
