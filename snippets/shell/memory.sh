#!/usr/bin/env bash
# ci: run long

# --8<-- [start:read]
python -m snippets.memory
# --8<-- [end:read]

# --8<-- [start:limits]
python -m snippets.watermarks
# --8<-- [end:limits]
