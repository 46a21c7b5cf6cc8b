#!/usr/bin/env bash
# ci: run long

# --8<-- [start:timing_cpu]
python -m snippets.timing cpu
# --8<-- [end:timing_cpu]

# --8<-- [start:quick]
python examples/benchmark.py cifar_optimizers --levels cpu,mps --quick
# --8<-- [end:quick]
