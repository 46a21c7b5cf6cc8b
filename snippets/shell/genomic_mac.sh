#!/usr/bin/env bash
# ci: no - macOS only: asks for MPS, or for data or weights of the reader's own

# --8<-- [start:benchmark]
python examples/genomic_caduceus/train.py experiment=hg38/mps_optimized_genomic_benchmark \
    data=human_nontata_promoters device=mps
# --8<-- [end:benchmark]

# --8<-- [start:published]
python examples/genomic_caduceus/train.py train.pretrained=caduceus-ps data=human_nontata_promoters
# --8<-- [end:published]

# --8<-- [start:autocast]
python examples/genomic_caduceus/train.py precision=bf16-mixed device=mps max_steps=10
# --8<-- [end:autocast]

# --8<-- [start:steps]
python examples/genomic_caduceus/train.py experiment=hg38/mps_optimized_genomic_benchmark \
    data=human_nontata_promoters max_steps=30
# --8<-- [end:steps]

# --8<-- [start:levels]
python examples/benchmark.py genomic_caduceus/train --levels cpu,mps
# --8<-- [end:levels]
