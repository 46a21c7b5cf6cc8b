#!/usr/bin/env bash
# ci: run

# --8<-- [start:script]
python examples/first_run.py
# --8<-- [end:script]
