#!/usr/bin/env bash
# ci: no - macOS only: asks for MPS, and caffeinate belongs to macOS

# --8<-- [start:estimate]
python examples/cifar_optimizers/train.py --device mps --data synthetic \
  --image-size 32 --width 64 --batch-size 128 --max-steps 30
# --8<-- [end:estimate]

# --8<-- [start:awake]
caffeinate -i python examples/cifar_optimizers/train.py --data cifar10 --download
# --8<-- [end:awake]
