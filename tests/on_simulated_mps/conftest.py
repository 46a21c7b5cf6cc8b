"""The training programs run on the simulated MPS device here."""

import pytest

from tests.examples.program_runs import *  # noqa: F403 - pytest looks for fixtures here


@pytest.fixture
def device():
    """Return the device on which a tiny run trains."""
    return "mps"
