#!/usr/bin/env bash
# ci: no - macOS only: asks its loader which libraries it opens

# --8<-- [start:loader]
DYLD_PRINT_LIBRARIES=1 python your_program.py 2>&1 | grep -i 'omp.*dylib'
# --8<-- [end:loader]

# --8<-- [start:parallel]
python -c "import torch; print(torch.__config__.parallel_info())"
# --8<-- [end:parallel]
