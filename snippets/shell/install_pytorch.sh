#!/usr/bin/env bash
# ci: no - network: installs packages

# --8<-- [start:nightly]
python -m pip install --pre torch torchvision \
    --index-url https://download.pytorch.org/whl/nightly/cpu
# --8<-- [end:nightly]
