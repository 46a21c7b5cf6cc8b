"""`pytest --simulated-mps`: the tests find the device "mps", and a report follows."""

import pytest

from simulated_mps.errors import SimulationError


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("simulated_mps")
    group.addoption("--simulated-mps", action="store_true", help="give PyTorch a simulated MPS device")
    group.addoption("--as-torch", metavar="RELEASE", help="with the operators of this release, such as 2.9")


def pytest_configure(config: pytest.Config) -> None:
    """Enable the device before any test module is imported."""
    if not config.getoption("simulated_mps"):
        return
    from simulated_mps import enable

    try:
        enable(config.getoption("as_torch"))
    except SimulationError as error:
        raise pytest.UsageError(f"--simulated-mps: {error}") from None


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print what the tests did on the device."""
    if not config.getoption("simulated_mps"):
        return
    from simulated_mps import report

    terminalreporter.section("simulated MPS")
    if config.getoption("numprocesses", None):  # pytest-xdist: the counts are in its processes
        terminalreporter.line("run without -n to see what the tests did on the device")
        return
    for line in report().lines():
        terminalreporter.line(line)
