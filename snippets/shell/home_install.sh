#!/usr/bin/env bash
# ci: no - network: downloads PyTorch

# --8<-- [start:install]
python3 -m venv .venv && . .venv/bin/activate
python -m pip install torch
# --8<-- [end:install]
