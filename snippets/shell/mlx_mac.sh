#!/usr/bin/env bash
# ci: no - macOS only: times the Apple GPU

# --8<-- [start:compare]
python -m snippets.compare_with_mlx
# --8<-- [end:compare]
