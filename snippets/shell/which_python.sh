#!/usr/bin/env bash
# ci: run long
# shellcheck disable=SC1091  # the line before makes the file

# --8<-- [start:python]
python3 -c "import platform as p; print(p.python_version(), p.machine())"
# --8<-- [end:python]

# --8<-- [start:environment]
python3 -m venv torch-env
. torch-env/bin/activate
# --8<-- [end:environment]
