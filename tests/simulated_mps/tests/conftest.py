"""Programs that these tests start find the environment of a new shell."""

import pytest


@pytest.fixture(autouse=True)
def _new_shell(monkeypatch):
    """Keep the device of this test run from programs that tests start."""
    from simulated_mps import processes

    for name in (processes.DEVICE, processes.COUNTS, processes.LIKE_MACOS, processes.MACOS):
        monkeypatch.delenv(name, raising=False)
