#!/usr/bin/env bash
# ci: no - network: downloads PyTorch without CUDA and clones the repository
# shellcheck disable=SC1091  # the environment is made here
set -e
REPO_URL=$1

# --8<-- [start:environment]
python3 -m venv .venv-sim
. .venv-sim/bin/activate
pip install torch==2.13.0 --index-url https://download.pytorch.org/whl/cpu
# --8<-- [end:environment]

# --8<-- [start:torchvision]
pip install torch==2.13.0 torchvision --index-url https://download.pytorch.org/whl/cpu
# --8<-- [end:torchvision]

# --8<-- [start:from_git]
pip install "git+$REPO_URL#subdirectory=tests/simulated_mps"
# --8<-- [end:from_git]

# --8<-- [start:from_folder]
pip install ./vendor/simulated_mps
# --8<-- [end:from_folder]
