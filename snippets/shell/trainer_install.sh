#!/usr/bin/env bash
# ci: no - network: installs Transformers and Accelerate

# --8<-- [start:uv]
uv pip install "transformers>=5.23" "accelerate>=1.15" torch
# --8<-- [end:uv]

# --8<-- [start:pip]
python -m pip install "transformers>=5.23" "accelerate>=1.15" torch
# --8<-- [end:pip]
