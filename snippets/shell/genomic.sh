#!/usr/bin/env bash
# ci: run long

# --8<-- [start:make-data]
python examples/genomic_caduceus/make_data.py --sequences 1000 --out data/motif
python examples/genomic_caduceus/train.py data=data/motif
# --8<-- [end:make-data]

# --8<-- [start:experiment]
python examples/genomic_caduceus/train.py experiment=hg38/mps_optimized_genomic_benchmark \
    data=data/motif precision=32 max_steps=4
# --8<-- [end:experiment]

# --8<-- [start:look]
python examples/genomic_caduceus/train.py experiment=hg38/mps_optimized_genomic_benchmark --cfg job
# --8<-- [end:look]

# --8<-- [start:resume]
python examples/genomic_caduceus/train.py data=data/motif out=runs/motif resume=auto
# --8<-- [end:resume]

# --8<-- [start:watch]
python examples/monitor.py
# --8<-- [end:watch]

# --8<-- [start:predict]
python examples/genomic_caduceus/predict.py runs/motif data/motif/test --out predictions.csv
# --8<-- [end:predict]

# --8<-- [start:export]
python examples/genomic_caduceus/export.py runs/motif
# --8<-- [end:export]

# --8<-- [start:pretrain]
python examples/genomic_caduceus/pretrain.py
# --8<-- [end:pretrain]

# For tests, which run the command above elsewhere: its output is recorded.
python examples/genomic_caduceus/pretrain.py max_steps=4

# --8<-- [start:fine-tune]
python examples/genomic_caduceus/train.py train.pretrained=newest
# --8<-- [end:fine-tune]

# --8<-- [start:averaged]
python examples/genomic_caduceus/train.py model.config.rcps=false dataset.rc_aug=true model.conjoin_test=true
# --8<-- [end:averaged]

# --8<-- [start:hairpin]
python examples/genomic_caduceus/pretrain.py data=hairpin
# --8<-- [end:hairpin]

# --8<-- [start:halves]
python examples/genomic_caduceus/train.py batch_size=32 train.global_batch_size=64 max_steps=20
# --8<-- [end:halves]

# --8<-- [start:plus]
python examples/genomic_caduceus/train.py experiment=hg38/genomic_benchmark \
    +dataset.num_workers=0 +dataset.pin_memory=false +dataset.drop_last=true \
    data=data/motif model=small max_steps=4
# --8<-- [end:plus]
