#!/usr/bin/env bash
# ci: run long

# --8<-- [start:runtimes]
python -m snippets.openmp_runtimes torch sklearn
# --8<-- [end:runtimes]

# --8<-- [start:threads]
OMP_NUM_THREADS=2 python -c "import torch; print(torch.get_num_threads())"
OMP_NUM_THREADS=2 MKL_NUM_THREADS=1 python -c "import torch; print(torch.get_num_threads())"
# --8<-- [end:threads]
