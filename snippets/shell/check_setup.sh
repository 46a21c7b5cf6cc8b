#!/usr/bin/env bash
# ci: run long

# --8<-- [start:check]
python examples/check_setup.py
# --8<-- [end:check]
