#!/usr/bin/env bash
# ci: no - network: downloads PyTorch
# shellcheck disable=SC1091  # the environment is made here

# --8<-- [start:install]
python3 -m venv .venv
. .venv/bin/activate
python -m pip install torch
# --8<-- [end:install]
