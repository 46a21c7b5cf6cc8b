#!/usr/bin/env bash
# ci: no - network: installs MLX

# --8<-- [start:install]
python -m pip install mlx
# --8<-- [end:install]

# --8<-- [start:compare]
python -m snippets.compare_with_mlx
# --8<-- [end:compare]
