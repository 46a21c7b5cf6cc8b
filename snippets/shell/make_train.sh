#!/usr/bin/env bash
# ci: no - network: installs PyTorch when it is missing

# --8<-- [start:train]
make train
# --8<-- [end:train]
