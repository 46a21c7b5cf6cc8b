#!/usr/bin/env bash
# ci: run

# --8<-- [start:one_command]
PYTORCH_ENABLE_MPS_FALLBACK=1 python -c "import os; print(os.environ['PYTORCH_ENABLE_MPS_FALLBACK'])"
# --8<-- [end:one_command]

# --8<-- [start:session]
export PYTORCH_ENABLE_MPS_FALLBACK=1
env | grep PYTORCH_
# --8<-- [end:session]

# --8<-- [start:unset]
unset PYTORCH_ENABLE_MPS_FALLBACK
# --8<-- [end:unset]
