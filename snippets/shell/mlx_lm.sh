#!/usr/bin/env bash
# ci: no - network: installs mlx-lm and downloads a model

# --8<-- [start:uv]
uv pip install "mlx-lm[train]"
# --8<-- [end:uv]

# --8<-- [start:pip]
python -m pip install "mlx-lm[train]"
# --8<-- [end:pip]

# --8<-- [start:train]
mlx_lm.lora --model Qwen/Qwen3-0.6B --train --data my-texts --iters 600
mlx_lm.generate --model Qwen/Qwen3-0.6B --adapter-path adapters --prompt "What is the capital of France?"
# --8<-- [end:train]
