#!/usr/bin/env bash
# ci: run long

# A data set for the second command.
python examples/genomic_caduceus/make_data.py --sequences 400 --out data/motif

# --8<-- [start:seeds]
python examples/genomic_caduceus/compare_seeds.py
# --8<-- [end:seeds]

# --8<-- [start:scripts]
DATA=data SEEDS="1 2" examples/genomic_caduceus/mps_optimized_genomic_benchmark.sh \
    model=small precision=32 max_steps=4
# --8<-- [end:scripts]

# --8<-- [start:verify]
python examples/genomic_caduceus/verify.py
# --8<-- [end:verify]
