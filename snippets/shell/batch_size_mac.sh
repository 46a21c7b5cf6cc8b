#!/usr/bin/env bash
# ci: no - macOS only: measures MPS

# --8<-- [start:sweep]
python examples/benchmark.py cifar_optimizers --levels mps \
    --data synthetic --image-size 32 --width 64 \
    --batch-sizes 16,32,64,128,256,512
# --8<-- [end:sweep]
