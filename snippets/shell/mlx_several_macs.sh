#!/usr/bin/env bash
# ci: no - macOS only: needs MLX and several Macs
set -e

# --8<-- [start:ring]
mlx.distributed_config --verbose --backend ring --over thunderbolt --hosts mac-1,mac-2 --output macs.json
mlx.launch --backend ring --hostfile macs.json train.py
# --8<-- [end:ring]
