#!/usr/bin/env bash
# ci: no - network: clones the repository and installs packages
set -e
REPO_URL=$1  # on pages the address itself, see tools/repository_passages.py

# --8<-- [start:clone]
git clone "$REPO_URL" mps-handbook
cd mps-handbook
# --8<-- [end:clone]

# --8<-- [start:own_uv]
uv pip install scikit-learn matplotlib tqdm
python examples/cifar_optimizers/train.py
# --8<-- [end:own_uv]

# --8<-- [start:own_pip]
python -m pip install scikit-learn matplotlib tqdm
python examples/cifar_optimizers/train.py
# --8<-- [end:own_pip]

# shellcheck source=/dev/null  # made by make
# --8<-- [start:activate]
. .venv/bin/activate
# --8<-- [end:activate]
