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

# --8<-- [start:two-devices]
python examples/genomic_caduceus/train.py device=cpu max_steps=60
python examples/genomic_caduceus/train.py device=mps max_steps=60
# --8<-- [end:two-devices]

# --8<-- [start:memory]
python -c "import torch; print(torch.mps.current_allocated_memory(), torch.mps.driver_allocated_memory())"
# --8<-- [end:memory]
