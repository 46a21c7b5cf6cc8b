#!/usr/bin/env bash
# ci: no - macOS only: without MPS it ends with one line (tests run the file on the simulated device)

# --8<-- [start:saved]
python verify_mac.py
# --8<-- [end:saved]

# --8<-- [start:everything]
make verify-mac
# --8<-- [end:everything]
