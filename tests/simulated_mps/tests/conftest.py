"""Programs that these tests start find the environment of a new shell."""

import pytest
from simulated_mps import processes


@pytest.fixture(autouse=True)
def _new_shell(monkeypatch):
    """Keep the device of this test run from programs that tests start."""
    for name in (processes.DEVICE, processes.COUNTS, processes.LIKE_MACOS):
        monkeypatch.delenv(name, raising=False)
