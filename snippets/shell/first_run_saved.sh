#!/usr/bin/env bash
# ci: no - network: installs packages

# --8<-- [start:uv]
uv pip install scikit-learn matplotlib
python first_run.py
# --8<-- [end:uv]

# --8<-- [start:pip]
python -m pip install scikit-learn matplotlib
python first_run.py
# --8<-- [end:pip]
