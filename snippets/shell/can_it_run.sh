#!/usr/bin/env bash
# ci: run

# --8<-- [start:look]
find . -name "*.cu"
grep -RlE "CUDAExtension|import triton|flash_attn|spconv|cupy" --include="*.py" .
grep -Rn -m 5 "cuda" --include="*.py" .
# --8<-- [end:look]
