#!/usr/bin/env bash
# ci: run

# --8<-- [start:cifar]
python examples/check_setup.py
python examples/cifar_optimizers/train.py --quick
python examples/cifar_optimizers/train.py
python examples/monitor.py --once
# --8<-- [end:cifar]
