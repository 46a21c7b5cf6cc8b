#!/usr/bin/env bash
# ci: run long

python examples/cifar_optimizers/train.py --width 4 --epochs 1 --out runs/colab

# --8<-- [start:home]
python examples/cifar_optimizers/train.py --out runs/colab --resume auto
# --8<-- [end:home]
