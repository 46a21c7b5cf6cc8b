#!/usr/bin/env bash
# ci: run long

# --8<-- [start:check]
python examples/check_setup.py
python examples/indicator_transformer/train.py --quick
# --8<-- [end:check]

# --8<-- [start:trial-data]
mkdir -p trial-prices
python -c "from examples.indicator_transformer.generated_bars import generate_market as market
market(9_000, seed=3).bars.table.to_csv('trial-prices/ACME.csv')"
# --8<-- [end:trial-data]

# In the tests, the generated prices are the reader's.
cp -R trial-prices prices

# --8<-- [start:own-data]
python examples/indicator_transformer/check_data.py prices
python examples/indicator_transformer/train.py --data prices --out runs/mine
# --8<-- [end:own-data]

# --8<-- [start:table]
python examples/indicator_transformer/train.py --data table
# --8<-- [end:table]

# --8<-- [start:resume]
python examples/indicator_transformer/train.py --out runs/indicators
python examples/indicator_transformer/train.py --out runs/indicators --resume auto
# --8<-- [end:resume]

# --8<-- [start:watch]
python examples/monitor.py --once
# --8<-- [end:watch]

# --8<-- [start:evaluate]
python examples/indicator_transformer/evaluate.py runs/indicators
# --8<-- [end:evaluate]

# --8<-- [start:evaluate-others]
python examples/indicator_transformer/evaluate.py runs/indicators --data bars --out runs/other-bars
# --8<-- [end:evaluate-others]

# --8<-- [start:predict]
python -c "from examples.indicator_transformer.generated_bars import generate_market as market
market(2_000, seed=3).bars.table.to_csv('runs/NEW.csv')"
python examples/indicator_transformer/predict.py runs/indicators/checkpoints/best.pt runs/NEW.csv
# --8<-- [end:predict]
