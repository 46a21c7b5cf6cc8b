#!/usr/bin/env bash
# ci: no - macOS only: asks for MPS, and trains on the reader's own plans in data/rplan

# --8<-- [start:rplan]
python examples/floorplan_diffusion/train_nodes.py --data data/rplan --device mps
python examples/floorplan_diffusion/train_edges.py --data data/rplan --device mps
# --8<-- [end:rplan]

# --8<-- [start:smaller]
python examples/floorplan_diffusion/train_nodes.py --data data/rplan --batch-size 64 --accumulate 4
python examples/floorplan_diffusion/train_edges.py --data data/rplan --batch-size 4 --accumulate 2
# --8<-- [end:smaller]

# --8<-- [start:two-devices]
python examples/floorplan_diffusion/train_nodes.py --device cpu --max-steps 200
python examples/floorplan_diffusion/train_nodes.py --device mps --max-steps 200
# --8<-- [end:two-devices]

# --8<-- [start:measure]
python examples/floorplan_diffusion/train_nodes.py --size origin --corners 53 --batch-size 256 --max-steps 30
# --8<-- [end:measure]

# Hours on a CPU, so no test runs it; both commands are the default ones with other numbers.
# --8<-- [start:longer]
python examples/floorplan_diffusion/train_nodes.py --width 128 --plans 32000 --batch-size 256 --lr 8e-3 --epochs 80
python examples/floorplan_diffusion/train_edges.py --width 128 --plans 8000 --epochs 6
# --8<-- [end:longer]
