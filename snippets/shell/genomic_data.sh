#!/usr/bin/env bash
# ci: no - network: installs a package and downloads a data set, on which the full network takes long

# --8<-- [start:uv]
uv pip install genomic-benchmarks
python -c "from genomic_benchmarks.loc2seq import download_dataset as d; d('human_nontata_promoters')"
# --8<-- [end:uv]

# --8<-- [start:pip]
pip install genomic-benchmarks
python -c "from genomic_benchmarks.loc2seq import download_dataset as d; d('human_nontata_promoters')"
# --8<-- [end:pip]

# --8<-- [start:genome]
python examples/genomic_caduceus/pretrain.py experiment=hg38/pretrain data=hg38.fa
# --8<-- [end:genome]
