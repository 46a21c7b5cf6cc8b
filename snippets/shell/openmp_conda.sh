#!/usr/bin/env bash
# ci: no - network: makes a conda environment

# --8<-- [start:create]
conda create --name train --override-channels --channel conda-forge pytorch faiss-cpu scikit-learn
# --8<-- [end:create]
