#!/usr/bin/env bash
# ci: run

# --8<-- [start:indicators]
python examples/check_setup.py
python examples/indicator_transformer/train.py --quick
python examples/indicator_transformer/train.py
python examples/monitor.py --once
# --8<-- [end:indicators]
