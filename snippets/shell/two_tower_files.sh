#!/usr/bin/env bash
# ci: run long

# --8<-- [start:files]
python examples/two_tower/train.py --out runs/two_tower/one
python examples/two_tower/build_cache.py runs/two_tower/one
python examples/two_tower/mine_near_misses.py runs/two_tower/one --faiss
python examples/two_tower/train.py --start-from runs/two_tower/one/checkpoints/best.pt \
    --p-cache runs/two_tower/one/p_cache.npy \
    --near-misses runs/two_tower/one/near_misses.jsonl \
    --epochs 1 --batch-size 256 --out runs/two_tower/two
# --8<-- [end:files]

# --8<-- [start:batch-alone]
python examples/two_tower/train.py --same-article-k 0 --near-miss-k 0
# --8<-- [end:batch-alone]

# --8<-- [start:generated]
python examples/two_tower/train.py --data generated
# --8<-- [end:generated]
