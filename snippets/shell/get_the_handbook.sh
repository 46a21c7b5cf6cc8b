#!/usr/bin/env bash
# ci: no - network: clones the repository and installs packages
set -e
REPOSITORY=$1

# --8<-- [start:clone]
git clone "$REPOSITORY" mps-handbook
cd mps-handbook
# --8<-- [end:clone]

# shellcheck source=/dev/null  # made by make
# --8<-- [start:activate]
. .venv/bin/activate
# --8<-- [end:activate]
