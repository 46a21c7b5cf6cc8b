#!/usr/bin/env bash
# ci: no - macOS only: sw_vers and this name of the chip exist only there

# --8<-- [start:mac]
sysctl -n machdep.cpu.brand_string
uname -m
sw_vers -productVersion
# --8<-- [end:mac]
