#!/usr/bin/env bash
# ci: no - macOS only: asks for MPS and times the Apple GPU

# --8<-- [start:insist]
python examples/indicator_transformer/train.py --device mps
# --8<-- [end:insist]

# --8<-- [start:all_options]
python examples/indicator_transformer/train.py --size origin --precision bf16 --compile
# --8<-- [end:all_options]

# --8<-- [start:two_levels]
python examples/benchmark.py indicator_transformer --levels cpu,mps --size origin --batch-size 16
# --8<-- [end:two_levels]

# --8<-- [start:levels]
python examples/benchmark.py indicator_transformer --size origin --batch-size 16 --json mac.json
# --8<-- [end:levels]

# --8<-- [start:batches]
python examples/benchmark.py indicator_transformer --levels mps --size origin --batch-sizes 16,32,64,128,256
# --8<-- [end:batches]

# --8<-- [start:workers]
python examples/benchmark.py indicator_transformer --levels mps --size origin --workers 0,2,4
# --8<-- [end:workers]

# --8<-- [start:sizes]
for size in origin medium large; do
  python examples/benchmark.py indicator_transformer --size $size --batch-size 16 --json $size.json
done
# --8<-- [end:sizes]
