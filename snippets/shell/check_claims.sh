#!/usr/bin/env bash
# ci: run long

# --8<-- [start:check]
python examples/check_claims.py --topic device
python examples/check_claims.py automatic-mps is-built
# --8<-- [end:check]
