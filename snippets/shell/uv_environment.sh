#!/usr/bin/env bash
# ci: no - network: uv may download a Python
# shellcheck disable=SC1091  # the line before makes the file

# --8<-- [start:environment]
uv venv torch-env
. torch-env/bin/activate
# --8<-- [end:environment]
