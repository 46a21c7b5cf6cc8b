#!/usr/bin/env bash
# ci: run long

# --8<-- [start:train]
python examples/genomic_caduceus/train.py
# --8<-- [end:train]

# --8<-- [start:averaged]
python examples/genomic_caduceus/train.py model.config.rcps=false dataset.rc_aug=true model.conjoin_test=true
# --8<-- [end:averaged]

# --8<-- [start:pretrain]
python examples/genomic_caduceus/pretrain.py
# --8<-- [end:pretrain]

# For tests, which run the command above elsewhere: its output is recorded.
python examples/genomic_caduceus/pretrain.py max_steps=4

# --8<-- [start:fine-tune]
python examples/genomic_caduceus/train.py train.pretrained=newest
# --8<-- [end:fine-tune]

# --8<-- [start:hairpin]
python examples/genomic_caduceus/pretrain.py data=hairpin
# --8<-- [end:hairpin]

# --8<-- [start:accumulate]
python examples/genomic_caduceus/train.py batch_size=32 train.global_batch_size=64
# --8<-- [end:accumulate]

# --8<-- [start:configuration]
python examples/genomic_caduceus/train.py experiment=hg38/mps_optimized_genomic_benchmark --cfg job
# --8<-- [end:configuration]
