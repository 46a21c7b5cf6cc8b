#!/usr/bin/env bash
# ci: run long

# --8<-- [start:run]
python examples/cifar_optimizers/train.py --quick --out runs/short
# --8<-- [end:run]

# --8<-- [start:whole]
python -m zipfile -t runs/short/checkpoints/last.pt
# --8<-- [end:whole]

# --8<-- [start:look]
FILE=runs/short/checkpoints/last.pt
python -c "import sys, torch; print(list(torch.load(sys.argv[1], map_location='cpu')))" "$FILE"
# --8<-- [end:look]
