#!/usr/bin/env bash
# ci: no - network: installs the newest release of PyTorch

# --8<-- [start:uv]
uv pip install --upgrade torch torchvision
# --8<-- [end:uv]
