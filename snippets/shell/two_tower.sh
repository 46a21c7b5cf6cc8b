#!/usr/bin/env bash
# ci: run long

# --8<-- [start:named-folder]
python examples/two_tower/train.py --out runs/two_tower/first
# --8<-- [end:named-folder]

# --8<-- [start:quick-start]
python examples/check_setup.py
python examples/two_tower/train.py
python examples/two_tower/evaluate.py
python examples/two_tower/search.py "an operator is missing on the GPU"
# --8<-- [end:quick-start]

# --8<-- [start:train]
python examples/two_tower/train.py
# --8<-- [end:train]

# --8<-- [start:evaluate]
python examples/two_tower/evaluate.py
# --8<-- [end:evaluate]

# --8<-- [start:search]
python examples/two_tower/search.py "an operator is missing on the GPU"
# --8<-- [end:search]

# --8<-- [start:cache]
python examples/two_tower/build_cache.py runs/two_tower/first
# --8<-- [end:cache]

# --8<-- [start:mine]
python examples/two_tower/mine_near_misses.py runs/two_tower/first
# --8<-- [end:mine]

# --8<-- [start:second]
python examples/two_tower/train.py \
    --start-from runs/two_tower/first/checkpoints/best.pt \
    --p-cache runs/two_tower/first/p_cache.npy \
    --near-misses runs/two_tower/first/near_misses.jsonl \
    --same-article-k 3 --epochs 1 --batch-size 256 --lr 1e-4 \
    --out runs/two_tower/second
# --8<-- [end:second]

# --8<-- [start:on-the-cpu]
python examples/two_tower/train.py --out runs/two_tower/first --resume auto --device cpu
# --8<-- [end:on-the-cpu]

# --8<-- [start:workers]
python examples/two_tower/train.py --workers 2 --quick
# --8<-- [end:workers]
