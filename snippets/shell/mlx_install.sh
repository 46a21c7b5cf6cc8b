#!/usr/bin/env bash
# ci: no - network: installs MLX

# --8<-- [start:install]
python -m pip install mlx
# --8<-- [end:install]
