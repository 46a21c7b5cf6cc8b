#!/usr/bin/env bash
# ci: run long

# --8<-- [start:read]
python -m snippets.memory
# --8<-- [end:read]

# --8<-- [start:limits]
python -m snippets.watermarks
# --8<-- [end:limits]

# --8<-- [start:both]
export PYTORCH_MPS_HIGH_WATERMARK_RATIO=1.0
export PYTORCH_MPS_LOW_WATERMARK_RATIO=0.9
python -m snippets.watermarks
# --8<-- [end:both]
