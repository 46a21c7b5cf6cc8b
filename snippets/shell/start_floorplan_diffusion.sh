#!/usr/bin/env bash
# ci: no - network: downloads the system and installs packages
# shellcheck disable=SC1091  # the environment is made by the line before
set -e
SITE_URL=$1  # on pages the address itself, see tools/repository_passages.py

# --8<-- [start:uv]
curl -LO "$SITE_URL"downloads/floorplan_diffusion.zip
unzip -q floorplan_diffusion.zip
cd floorplan_diffusion
uv venv --python ">=3.11.5"
. .venv/bin/activate
uv pip install -r requirements.txt
python examples/floorplan_diffusion/generate.py --bundled --count 12 --steps 250 --format png,dxf --out plans
python examples/floorplan_diffusion/train_nodes.py
python examples/floorplan_diffusion/train_edges.py
python examples/floorplan_diffusion/generate.py
# --8<-- [end:uv]

# --8<-- [start:pip]
curl -LO "$SITE_URL"downloads/floorplan_diffusion.zip
unzip -q floorplan_diffusion.zip
cd floorplan_diffusion
python3 -m venv .venv
. .venv/bin/activate
pip install -r requirements.txt
python examples/floorplan_diffusion/generate.py --bundled --count 12 --steps 250 --format png,dxf --out plans
python examples/floorplan_diffusion/train_nodes.py
python examples/floorplan_diffusion/train_edges.py
python examples/floorplan_diffusion/generate.py
# --8<-- [end:pip]
