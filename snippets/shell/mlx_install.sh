#!/usr/bin/env bash
# ci: no - network: installs MLX

# --8<-- [start:uv]
uv pip install mlx
# --8<-- [end:uv]

# --8<-- [start:pip]
python -m pip install mlx
# --8<-- [end:pip]
