#!/usr/bin/env bash
# ci: no - network: installs nightly builds of PyTorch (tests run these commands with an index on disk)

# shellcheck disable=SC1091  # the line before makes the file
# --8<-- [start:install]
python3 -m venv torch-nightly
. torch-nightly/bin/activate
python -m pip install --pre torch torchvision \
    --index-url https://download.pytorch.org/whl/nightly/cpu
# --8<-- [end:install]

# --8<-- [start:uv]
uv venv --seed torch-nightly  # with pip, for the commands below
. torch-nightly/bin/activate
uv pip install --pre torch torchvision \
    --index-url https://download.pytorch.org/whl/nightly/cpu
# --8<-- [end:uv]

# --8<-- [start:dates]
python -m pip index versions torch --pre \
    --index-url https://download.pytorch.org/whl/nightly/cpu
# --8<-- [end:dates]

# --8<-- [start:pin]
python -m pip install --pre torch==2.16.0.dev20261118 torchvision \
    --index-url https://download.pytorch.org/whl/nightly/cpu
python -m pip freeze > nightly.txt
# --8<-- [end:pin]

# --8<-- [start:keep]
python -m pip download --no-deps torch==2.16.0.dev20261118 --dest wheels \
    --index-url https://download.pytorch.org/whl/nightly/cpu
# --8<-- [end:keep]

# --8<-- [start:back]
python -m pip install torch==2.15.0 torchvision==0.29.2
# --8<-- [end:back]

# --8<-- [start:handbook]
python3 -m venv torch-nightly
torch-nightly/bin/python -m pip install -r requirements/examples.txt
torch-nightly/bin/python -m pip install --no-deps --no-build-isolation -e .
torch-nightly/bin/python examples/upgrade_nightly.py
# --8<-- [end:handbook]
