#!/usr/bin/env bash
# ci: run long

# --8<-- [start:optimizer]
python examples/cifar_optimizers/train.py --optimizer lion --seed 1
# --8<-- [end:optimizer]

# --8<-- [start:synthetic]
python examples/cifar_optimizers/train.py --data synthetic --epochs 3
# --8<-- [end:synthetic]

# --8<-- [start:wrong-labels]
python examples/cifar_optimizers/train.py --label-noise 0.2
# --8<-- [end:wrong-labels]

# --8<-- [start:named-folder]
python examples/cifar_optimizers/train.py --out runs/first
# --8<-- [end:named-folder]

# --8<-- [start:resume]
python examples/cifar_optimizers/train.py --out runs/first --resume auto
# --8<-- [end:resume]

# --8<-- [start:heartbeat]
python -m json.tool runs/first/heartbeat.json
# --8<-- [end:heartbeat]

# --8<-- [start:watch]
python examples/monitor.py --once
# --8<-- [end:watch]
