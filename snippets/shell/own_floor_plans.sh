#!/usr/bin/env bash
# ci: run long

# --8<-- [start:own]
# --8<-- [start:convert]
python snippets/own_floor_plans.py
python examples/floorplan_diffusion/convert.py flats.json --out data/flats
python examples/floorplan_diffusion/check_data.py data/flats --picture flats.png
# --8<-- [end:convert]
python examples/floorplan_diffusion/train_nodes.py --data data/flats --quick --batch-size 8 --out runs/flats_nodes
python examples/floorplan_diffusion/train_edges.py --data data/flats --quick --batch-size 8 --out runs/flats_edges
python examples/floorplan_diffusion/generate.py --nodes runs/flats_nodes --edges runs/flats_edges \
    --count 4 --steps 100 --format dxf,json --pixels-per-metre 19 --out drawn
# --8<-- [end:own]

# --8<-- [start:bundled]
python examples/floorplan_diffusion/generate.py --bundled --count 12 --steps 250 --format png,dxf --out plans
# --8<-- [end:bundled]
