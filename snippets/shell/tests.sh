#!/usr/bin/env bash
# ci: no - interactive: the test run cannot start itself

# --8<-- [start:test]
make test
# --8<-- [end:test]
