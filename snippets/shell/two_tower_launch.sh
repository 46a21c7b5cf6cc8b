#!/usr/bin/env bash
# ci: run long

# --8<-- [start:start]
examples/two_tower/launch.sh runs/night
# --8<-- [end:start]

# --8<-- [start:watch]
python examples/monitor.py runs/night
# --8<-- [end:watch]

# --8<-- [start:cpu-fallback]
examples/two_tower/launch.sh --cpu-fallback runs/night
# --8<-- [end:cpu-fallback]
