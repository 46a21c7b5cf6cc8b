#!/usr/bin/env bash
# ci: run long

# Stands for the download.
mkdir -p downloads
cp examples/check_setup.py downloads
cd downloads || exit
# --8<-- [start:check]
python check_setup.py
# --8<-- [end:check]

# --8<-- [start:json]
python check_setup.py --json > setup.json
# --8<-- [end:json]
