"""The training programs run on the simulated MPS device here."""

import sys
from importlib.metadata import PackageNotFoundError, version

import pytest
from lightning_utilities.core import imports

from tests.examples.program_runs import *  # noqa: F403 - pytest looks for fixtures here


def installed_version(name: str) -> str:
    """Return the version of a package, but of no torchvision: that of .venv fits another PyTorch.

    Lightning imports torchmetrics, and that imports torchvision wherever it seems to be installed.
    """
    if name == "torchvision":
        raise PackageNotFoundError(name)
    return version(name)


def pytest_configure(config: pytest.Config) -> None:
    """Keep torchvision out, where these tests will run."""
    if config.getoption("simulated_mps", False):
        imports._version = installed_version
        sys.modules.setdefault("torchvision", None)  # `import` of it fails


@pytest.fixture
def device():
    """Return the device on which a tiny run trains."""
    return "mps"
