#!/usr/bin/env bash
# ci: no - network: downloads PyTorch without CUDA and clones the repository
# shellcheck disable=SC1091  # the environment is made here
set -e
REPO_URL=$1

# --8<-- [start:environment]
python3 -m venv .venv-sim
. .venv-sim/bin/activate
pip install torch==2.15.0 --index-url https://download.pytorch.org/whl/cpu
# --8<-- [end:environment]

# --8<-- [start:torchvision]
pip install torch==2.15.0 torchvision --index-url https://download.pytorch.org/whl/cpu
# --8<-- [end:torchvision]

# --8<-- [start:from_git]
pip install pytest "git+$REPO_URL#subdirectory=tests/simulated_mps"
pytest --simulated-mps
# --8<-- [end:from_git]

# --8<-- [start:from_folder]
pip install pytest ./vendor/simulated_mps
pytest --simulated-mps tests
# --8<-- [end:from_folder]

# --8<-- [start:wheel]
python vendor/simulated_mps/build_wheel.py --out dist .venv-2.13/bin/python .venv-2.15/bin/python
# --8<-- [end:wheel]
