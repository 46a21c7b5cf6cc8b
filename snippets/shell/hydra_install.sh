#!/usr/bin/env bash
# ci: no - network: installs Hydra

# --8<-- [start:install]
python -m pip install "hydra-core>=1.3.8"
# --8<-- [end:install]
