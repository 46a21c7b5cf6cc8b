#!/usr/bin/env bash
# ci: run

# --8<-- [start:index]
MIRROR=ADDRESS
export PIP_INDEX_URL=$MIRROR UV_DEFAULT_INDEX=$MIRROR
python -m pip config list
# --8<-- [end:index]
