"""Failures of a device: what is explained, and what is left alone."""

import pytest
import torch

from examples.programs.failures import explained_failures
from snippets.errors import RunError

ADVICE = "out of memory; lower --bars"
MISSING = "The operator 'aten::_linalg_svd.U' is not currently implemented for the MPS device."


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (torch.OutOfMemoryError("CUDA out of memory. Tried to allocate"), ADVICE),
        (MemoryError(), ADVICE),
        (NotImplementedError(MISSING), "MPS has no operator '_linalg_svd.U'"),
        (RuntimeError("DataLoader worker (pid 5) is killed by signal: Killed."), "worker"),
    ],
)
def test_one_line_says_what_to_do(error, line):
    with pytest.raises(RunError, match=line), explained_failures(ADVICE):
        raise error


def test_defects_pass_unchanged():
    with (
        pytest.raises(RuntimeError, match="mat1 and mat2"),
        explained_failures(ADVICE),
    ):
        raise RuntimeError("mat1 and mat2 shapes cannot be multiplied")
