#!/usr/bin/env bash
# ci: run long

# --8<-- [start:resume]
python examples/two_tower/train.py --out runs/two_tower/first --resume auto
# --8<-- [end:resume]

# --8<-- [start:evaluate]
python examples/two_tower/evaluate.py
# --8<-- [end:evaluate]

# --8<-- [start:search]
python examples/two_tower/search.py "an operator is missing on the GPU"
# --8<-- [end:search]

# --8<-- [start:on-the-cpu]
python examples/two_tower/train.py --out runs/two_tower/first --resume auto --device cpu
# --8<-- [end:on-the-cpu]

# --8<-- [start:benchmark]
python examples/benchmark.py two_tower --levels cpu,mps
# --8<-- [end:benchmark]

# --8<-- [start:own-pairs]
python examples/two_tower/encode.py examples/two_tower/data/pairs.tsv --article page --out runs/pairs
python examples/two_tower/train.py --data runs/pairs
python examples/two_tower/search.py "your question"
# --8<-- [end:own-pairs]

# --8<-- [start:origin]
python examples/two_tower/train.py --data runs/pairs --size origin --batch-size 256 --near-miss-k 0 \
    --max-steps 10 --out runs/origin
# --8<-- [end:origin]

# --8<-- [start:large]
examples/two_tower/launch.sh runs/large --data runs/pairs --batch-size 256 --epochs 1 --near-miss-k 0
# --8<-- [end:large]

# --8<-- [start:watch]
python examples/monitor.py runs/large
# --8<-- [end:watch]
