#!/usr/bin/env bash
# ci: run

# --8<-- [start:index]
export PIP_INDEX_URL=https://mirror.example/simple
export UV_DEFAULT_INDEX=$PIP_INDEX_URL
python -m pip config list
# --8<-- [end:index]
