#!/usr/bin/env bash
# ci: no - interactive: press Ctrl-C while the first command trains

# --8<-- [start:stop]
python examples/cifar_optimizers/train.py --epochs 30 --out runs/stopped
# --8<-- [end:stop]

# --8<-- [start:resume]
python examples/cifar_optimizers/train.py --resume runs/stopped
# --8<-- [end:resume]

# --8<-- [start:compare]
python examples/cifar_optimizers/train.py --epochs 30 --out runs/whole
python -m snippets.compare_checkpoints runs/whole/checkpoints/last.pt runs/stopped/checkpoints/last.pt
# --8<-- [end:compare]
