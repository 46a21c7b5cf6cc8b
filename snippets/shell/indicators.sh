#!/usr/bin/env bash
# ci: run long

# --8<-- [start:quick]
python examples/indicator_transformer/train.py --quick
# --8<-- [end:quick]
