#!/usr/bin/env bash
# ci: run long

# --8<-- [start:prices]
mkdir -p runs/prices
python -c "import pandas; from matplotlib import cbook
days = pandas.DataFrame(cbook.get_sample_data('goog.npz')['price_data'])
days.rename(columns=lambda name: name.replace('_', ' ').title()).to_csv('runs/prices/GOOG.csv', index=False)"

python examples/indicator_transformer/check_data.py runs/prices
python examples/indicator_transformer/train.py --data runs/prices --out runs/goog
python examples/indicator_transformer/evaluate.py runs/goog
python examples/indicator_transformer/predict.py runs/goog/checkpoints/best.pt runs/prices/GOOG.csv --out runs/goog.csv
# --8<-- [end:prices]
