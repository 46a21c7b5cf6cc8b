#!/usr/bin/env bash
# ci: no - network: installs packages

# --8<-- [start:run]
python -m pip install scikit-learn matplotlib
python first_run.py
# --8<-- [end:run]
