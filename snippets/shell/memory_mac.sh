#!/usr/bin/env bash
# ci: no - macOS only: asks for MPS; footprint and vm.swapusage belong to macOS

# --8<-- [start:allocator]
PYTORCH_DEBUG_MPS_ALLOCATOR=3 TORCH_CPP_LOG_LEVEL=INFO python -m snippets.memory mps
# --8<-- [end:allocator]

# --8<-- [start:footprint]
pid=$(pgrep -of train.py)
footprint "$pid"
sysctl vm.swapusage
# --8<-- [end:footprint]
