#!/usr/bin/env bash
# ci: run long

# --8<-- [start:loader_speed]
python -m snippets.loader_speed 0 2
# --8<-- [end:loader_speed]

