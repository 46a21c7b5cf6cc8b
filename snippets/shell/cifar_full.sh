#!/usr/bin/env bash
# ci: no - network: downloads CIFAR, and the full network takes minutes to days

# --8<-- [start:ten-epochs]
python examples/cifar_optimizers/train.py --data cifar10 --download --epochs 10
# --8<-- [end:ten-epochs]

# --8<-- [start:grid]
python examples/cifar_optimizers/grid.py --data cifar10 --download \
  --optimizers sgd,adam,adamw,radam,lion --seeds 42,123,456
# --8<-- [end:grid]

# --8<-- [start:noise-grid]
python examples/cifar_optimizers/label_noise.py --data cifar10 --download \
  --label-noise 0.2 --epochs 100 --optimizers sgd,adam,lion
# --8<-- [end:noise-grid]
