#!/usr/bin/env bash
# ci: no - macOS only: powermetrics belongs to macOS

# --8<-- [start:power]
sudo powermetrics --samplers cpu_power,gpu_power -i 10000 -n 6 | grep Power
# --8<-- [end:power]
