#!/usr/bin/env bash
# ci: run
# The same as run_genomic_benchmark_no_wandb.sh with the settings for a Mac: batches of 64, two per step, bfloat16.
#
#     DATA=~/.genomic_benchmarks examples/genomic_caduceus/mps_optimized_genomic_benchmark.sh [key=value ...]

set -eu

# PyTorch reads this when it is imported. An operator that MPS lacks is then computed on the CPU, with a warning
# that names it. PYTORCH_MPS_HIGH_WATERMARK_RATIO=0.0 is left out: it takes away a limit, and speeds nothing up.
export PYTORCH_ENABLE_MPS_FALLBACK="${PYTORCH_ENABLE_MPS_FALLBACK:-1}"
export EXPERIMENT=hg38/mps_optimized_genomic_benchmark
exec "$(dirname "$0")/run_genomic_benchmark_no_wandb.sh" "$@"
