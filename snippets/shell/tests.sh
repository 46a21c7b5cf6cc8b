#!/usr/bin/env bash
# ci: no - interactive: the test run cannot start itself

# --8<-- [start:test]
make test
# --8<-- [end:test]

# --8<-- [start:quick]
make check
make test ARGS=tests/snippets/test_device.py
# --8<-- [end:quick]
