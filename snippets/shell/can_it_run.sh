#!/usr/bin/env bash
# ci: run

# --8<-- [start:look]
find . -name "*.cu"
grep -rlE "CUDAExtension|import triton|flash_attn|spconv|cupy" --include="*.py" .
grep -rnE "cuda" --include="*.py" . | head -n 40
# --8<-- [end:look]
