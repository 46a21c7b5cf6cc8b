#!/usr/bin/env bash
# ci: run

# --8<-- [start:look]
find . -name "*.cu" -not -path "*/site-packages/*"
grep -RlE "CUDAExtension|import triton|flash_attn|mamba_ssm|gsplat|spconv|cupy" --include="*.py" \
    --exclude-dir=site-packages .
# --8<-- [end:look]
