#!/usr/bin/env bash
# ci: no - network: downloads the system and installs packages
# shellcheck disable=SC1091  # the environment is made by the line before
set -e
SITE_URL=$1  # on pages the address itself, see tools/repository_passages.py

# --8<-- [start:uv]
curl -LO "$SITE_URL"downloads/genomic_caduceus.zip
unzip -q genomic_caduceus.zip
cd genomic_caduceus
uv venv --python ">=3.11.5"
. .venv/bin/activate
uv pip install -r requirements.txt
python examples/genomic_caduceus/train.py
# --8<-- [end:uv]

# --8<-- [start:pip]
curl -LO "$SITE_URL"downloads/genomic_caduceus.zip
unzip -q genomic_caduceus.zip
cd genomic_caduceus
python3 -m venv .venv
. .venv/bin/activate
pip install -r requirements.txt
python examples/genomic_caduceus/train.py
# --8<-- [end:pip]
