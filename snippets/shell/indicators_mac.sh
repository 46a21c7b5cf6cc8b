#!/usr/bin/env bash
# ci: no - macOS only: trains the large network for as long as it takes, and times the Apple GPU

# --8<-- [start:real-size]
python examples/indicator_transformer/train.py --size origin --out runs/origin
# --8<-- [end:real-size]

# --8<-- [start:time]
python examples/benchmark.py indicator_transformer --levels mps --size origin
# --8<-- [end:time]

# --8<-- [start:levels]
python examples/benchmark.py indicator_transformer --size origin --batch-size 16 --json mac.json
# --8<-- [end:levels]

# --8<-- [start:batches]
python examples/benchmark.py indicator_transformer --levels mps --size origin --batch-sizes 16,32,64,128,256
# --8<-- [end:batches]

# --8<-- [start:sizes]
for size in origin medium large; do
  python examples/benchmark.py indicator_transformer --size $size --batch-size 16 --json $size.json
done
# --8<-- [end:sizes]
