#!/usr/bin/env bash
# ci: no - network: asks PyTorch's index of nightly builds, and installs one

# --8<-- [start:show]
python examples/upgrade_nightly.py --dry-run
# --8<-- [end:show]

# --8<-- [start:upgrade]
python examples/upgrade_nightly.py
# --8<-- [end:upgrade]

# --8<-- [start:restore]
python examples/upgrade_nightly.py --restore
# --8<-- [end:restore]
