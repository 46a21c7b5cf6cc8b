#!/usr/bin/env bash
# ci: run long

# --8<-- [start:cpu-fallback]
examples/two_tower/launch.sh --cpu-fallback runs/night
# --8<-- [end:cpu-fallback]

python examples/monitor.py runs/night
