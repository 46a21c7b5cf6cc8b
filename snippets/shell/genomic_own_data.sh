#!/usr/bin/env bash
# ci: run long

# --8<-- [start:own-data]
python examples/genomic_caduceus/make_data.py --format gue --sequences 1000 --length 32 --out data/gue
python examples/genomic_caduceus/check_data.py data=data/gue
python examples/genomic_caduceus/train.py data=data/gue out=runs/gue
python examples/genomic_caduceus/predict.py runs/gue data/gue/test.csv --out predictions.csv
# --8<-- [end:own-data]

# --8<-- [start:export]
python examples/genomic_caduceus/export.py runs/gue
# --8<-- [end:export]
