#!/usr/bin/env bash
# ci: run

# --8<-- [start:own]
python snippets/own_floor_plans.py
python examples/floorplan_diffusion/convert.py flats.json --out data/flats
python examples/floorplan_diffusion/check_data.py data/flats --picture flats.png
python examples/floorplan_diffusion/train_nodes.py --data data/flats --size small --epochs 200 --batch-size 16 \
    --optimizer muon --lr 1e-2 --place-weight 20 --focus 2 --out runs/flats_nodes
python examples/floorplan_diffusion/train_edges.py --data data/flats --size small --lr 3e-3 --out runs/flats_edges
python examples/floorplan_diffusion/generate.py --nodes runs/flats_nodes --edges runs/flats_edges \
    --count 8 --format dxf,json --pixels-per-metre 20 --out drawn
# --8<-- [end:own]

# --8<-- [start:bundled]
python examples/floorplan_diffusion/generate.py --bundled --count 12 --steps 250 --format png,dxf --out plans
# --8<-- [end:bundled]
