#!/usr/bin/env bash
# ci: no - macOS only: asks for MPS, and for pairs of the reader's own in pairs.npz

# --8<-- [start:own-vectors]
python examples/two_tower/train.py --data pairs.npz --device mps
# --8<-- [end:own-vectors]
