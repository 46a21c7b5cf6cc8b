#!/usr/bin/env bash
# ci: no - macOS only: times the Apple GPU, for minutes

# --8<-- [start:timing]
python -m snippets.timing mps
# --8<-- [end:timing]

# --8<-- [start:levels]
python examples/benchmark.py cifar_optimizers
# --8<-- [end:levels]

# --8<-- [start:full_size]
python examples/benchmark.py cifar_optimizers --data synthetic --image-size 32 --width 64 \
  --batch-size 128 --json mac.json --chart mac.png
# --8<-- [end:full_size]

# --8<-- [start:backwards]
python examples/benchmark.py cifar_optimizers --levels mps+bf16,mps,cpu
# --8<-- [end:backwards]

# --8<-- [start:workers]
python examples/benchmark.py cifar_optimizers --levels mps --workers 0,2,4
# --8<-- [end:workers]
