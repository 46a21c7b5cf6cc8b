"""Small data files that mean gigabytes, or work without end, are refused in one line before they unfold."""

import numpy
import pytest

from examples.floorplan_diffusion import plan_files
from snippets.errors import UsageError
from tests.examples.floorplan_diffusion.data_files import arrays


def test_plans(tmp_path, monkeypatch):
    """Their walls take more memory than the file says."""
    numpy.savez_compressed(tmp_path / "train.npz", **arrays())
    monkeypatch.setattr(plan_files, "MOST_PLANS", 1)
    with pytest.raises(UsageError, match="has 2 plans; more than 1 are not read"):
        plan_files.read_plans(tmp_path / "train.npz")
