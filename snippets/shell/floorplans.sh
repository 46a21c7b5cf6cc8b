#!/usr/bin/env bash
# ci: run long

# --8<-- [start:quick-start]
python examples/floorplan_diffusion/train_nodes.py
python examples/floorplan_diffusion/train_edges.py
# --8<-- [start:draw]
python examples/floorplan_diffusion/generate.py
# --8<-- [end:draw]
# --8<-- [end:quick-start]

# --8<-- [start:resume]
python examples/floorplan_diffusion/train_nodes.py --out runs/plans --resume auto
# --8<-- [end:resume]

# --8<-- [start:launch]
python examples/floorplan_diffusion/launch.py --choice 2 --background -- --out runs/edges
# --8<-- [end:launch]

# --8<-- [start:watch]
python examples/monitor.py
# --8<-- [end:watch]

# --8<-- [start:fewer-steps]
python examples/floorplan_diffusion/generate.py --count 12 --steps 50 --seed 1
# --8<-- [end:fewer-steps]

# --8<-- [start:continue-sampling]
python examples/floorplan_diffusion/generate.py --count 12 --steps 50 --seed 2 --resume auto
# --8<-- [end:continue-sampling]

# --8<-- [start:export]
python examples/floorplan_diffusion/export.py
# --8<-- [end:export]
