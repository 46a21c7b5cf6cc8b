#!/usr/bin/env bash
# ci: no - network: downloads CIFAR, and the full network takes hours

# --8<-- [start:archive]
curl -O https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz
python examples/cifar_optimizers/check_data.py cifar-10-python.tar.gz
python examples/cifar_optimizers/train.py --data cifar-10-python.tar.gz
# --8<-- [end:archive]
