#!/usr/bin/env bash
# ci: no - macOS only: compares the Apple GPU under two versions of PyTorch, and describes that Mac

# --8<-- [start:results]
.venv/bin/python examples/cifar_optimizers/compare_devices.py --device mps
torch-nightly/bin/python examples/cifar_optimizers/compare_devices.py --device mps
# --8<-- [end:results]

# --8<-- [start:speed]
.venv/bin/python examples/benchmark.py cifar_optimizers --levels mps --json stable.json
torch-nightly/bin/python examples/benchmark.py cifar_optimizers --levels mps --json nightly.json
.venv/bin/python examples/benchmark.py cifar_optimizers --levels mps --json stable-again.json
# --8<-- [end:speed]

# --8<-- [start:report]
python -m torch.utils.collect_env
# --8<-- [end:report]
