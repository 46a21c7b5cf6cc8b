#!/usr/bin/env bash
# ci: no - network: clones GSDiff and installs packages; the rest is for data of the reader's own

# --8<-- [start:drawings]
python examples/floorplan_diffusion/convert.py drawings --unit mm --snap 3 --name sauna=bathroom --out data/own
# --8<-- [end:drawings]

# --8<-- [start:small]
python examples/floorplan_diffusion/train_nodes.py --data data/own --size small --batch-size 32 --epochs 10000 \
    --max-steps 8800 --optimizer muon --lr 1e-2 --place-weight 20 --focus 2
python examples/floorplan_diffusion/train_edges.py --data data/own --size small --epochs 10000 --max-steps 1500 \
    --lr 3e-3
# --8<-- [end:small]

# --8<-- [start:rplan]
python3 -m venv gsdiff && gsdiff/bin/pip install 'numpy<2' opencv-python networkx tqdm
git clone https://github.com/SizheHu/GSDiff && mkdir -p GSDiff/datasets/rplandata/Data
mv floorplan_dataset GSDiff/datasets/rplandata/Data/
(cd GSDiff/datasets && for step in extract process1 process2 process3 process4; do
    ../../gsdiff/bin/python "rplan-$step.py" || break; done)
python examples/floorplan_diffusion/convert.py GSDiff/datasets/rplandata/Data/rplang-v3-withsemantics --trust-pickle
# --8<-- [end:rplan]
