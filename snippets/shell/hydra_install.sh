#!/usr/bin/env bash
# ci: no - network: installs Hydra

# --8<-- [start:uv]
uv pip install "hydra-core>=1.3.8"
# --8<-- [end:uv]

# --8<-- [start:pip]
python -m pip install "hydra-core>=1.3.8"
# --8<-- [end:pip]
