#!/usr/bin/env bash
# ci: no - network: installs Lightning

# --8<-- [start:uv]
uv pip install "pytorch-lightning>=2.6.6"
# --8<-- [end:uv]

# --8<-- [start:pip]
python -m pip install "pytorch-lightning>=2.6.6"
# --8<-- [end:pip]
