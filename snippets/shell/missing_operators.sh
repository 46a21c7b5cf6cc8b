#!/usr/bin/env bash
# ci: run

# --8<-- [start:support]
python -m snippets.operator_support linalg_eig linalg_eigh _linalg_eigh embedding_renorm_
# --8<-- [end:support]
