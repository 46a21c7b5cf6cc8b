#!/usr/bin/env bash
# ci: no - macOS only: asks for MPS; footprint and vm.swapusage belong to macOS

# --8<-- [start:allocator]
PYTORCH_DEBUG_MPS_ALLOCATOR=3 TORCH_CPP_LOG_LEVEL=INFO python -m snippets.memory mps
# --8<-- [end:allocator]

# --8<-- [start:both]
export PYTORCH_MPS_HIGH_WATERMARK_RATIO=1.0
export PYTORCH_MPS_LOW_WATERMARK_RATIO=0.9
python -c "import torch; print(torch.mps.recommended_max_memory() / 2**30, 'GiB')"
# --8<-- [end:both]

# --8<-- [start:footprint]
pid=$(pgrep -of train.py)
footprint "$pid"
sysctl vm.swapusage
# --8<-- [end:footprint]
