#!/usr/bin/env bash
# ci: no - interactive: after the download; tests/tools/test_downloads.py runs it
set -e

# --8<-- [start:unzip]
unzip mps-handbook.zip
cd mps-handbook
# --8<-- [end:unzip]
