#!/usr/bin/env bash
# ci: run long

# --8<-- [start:suppress_errors]
python -c "import torch._dynamo.config as c; print(c.suppress_errors, c.recompile_limit)"
# --8<-- [end:suppress_errors]
