"""The cures that the page of error messages shows as code."""

import numpy as np
import pytest
import torch

from snippets.error_fixes.devices import left_behind
from snippets.error_fixes.float64 import to_device


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (np.float64, torch.float32),
        (np.float32, torch.float32),
        (np.int64, torch.int64),
        (np.bool_, torch.bool),
    ],
)
def test_only_float64_is_converted(given, expected):
    tensor = to_device(np.array([1, 0], dtype=given), "cpu")
    assert tensor.dtype == expected
    assert tensor.tolist() == [1, 0]


class Scaled(torch.nn.Module):
    """A layer with a constant that `.to()` moves, and one that it does not."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(2, 2)
        self.register_buffer("moves", torch.ones(2))
        self.stays = torch.ones(2)


def test_what_does_not_move_is_named():
    model = torch.nn.Sequential(Scaled())
    assert left_behind(model, "cpu") == []
    assert left_behind(model.to("meta"), "meta") == ["0.stays"]
    assert left_behind(model, "cpu") == ["0.moves", "0.layer.weight", "0.layer.bias"]
