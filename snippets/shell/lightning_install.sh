#!/usr/bin/env bash
# ci: no - network: installs Lightning

# --8<-- [start:install]
python -m pip install "pytorch-lightning>=2.6.6"
# --8<-- [end:install]
