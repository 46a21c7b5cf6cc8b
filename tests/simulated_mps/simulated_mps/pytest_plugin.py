"""`pytest --simulated-mps`: the tests find the device "mps", and a report follows."""

import os

import pytest

from simulated_mps import enable, report
from simulated_mps.device import MACOS
from simulated_mps.errors import SimulationError
from simulated_mps.processes import LIKE_MACOS
from simulated_mps.report import NO_OPERATORS


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("simulated_mps")
    group.addoption("--simulated-mps", action="store_true", help="give PyTorch a simulated MPS device")
    group.addoption("--as-torch", metavar="RELEASE", help="with the operators of this release, such as 2.9")
    group.addoption("--as-macos", metavar="VERSION", help="pretend this macOS, such as 14 or 15.1")
    group.addoption("--like-macos", action="store_true", help="and start worker processes as macOS does")
    group.addoption(
        "--allow-no-operators", action="store_true", help="pass even if no operator ran on the device"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Enable the device before any test module is imported."""
    if not config.getoption("simulated_mps"):
        for option in ("as_torch", "as_macos", "like_macos"):
            if config.getoption(option):
                raise pytest.UsageError(f"--{option.replace('_', '-')} needs --simulated-mps")
        return
    if config.getoption("like_macos"):
        os.environ[LIKE_MACOS] = "1"
    if config.getoption("as_macos"):
        os.environ[MACOS] = config.getoption("as_macos")
    try:
        enable(config.getoption("as_torch"))
    except SimulationError as error:
        raise pytest.UsageError(f"--simulated-mps: {error}") from None
    if not hasattr(config, "workerinput"):  # the processes of pytest-xdist leave their counts to this one
        config.pluginmanager.register(Outcome(config.getoption("allow_no_operators")))


class Outcome:
    """What the tests did on the device, in all processes; a run that did nothing there fails."""

    def __init__(self, allow_no_operators: bool) -> None:
        self.must_compute = not allow_no_operators
        self.tests_ran = False
        self.failed = False

    def pytest_runtest_logreport(self) -> None:
        """Note that a test ran, which none does with --collect-only."""
        self.tests_ran = True

    @pytest.hookimpl(trylast=True)  # when the processes of pytest-xdist have ended
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Fail a run that would pass and computed nothing on the device."""
        passed = session.exitstatus == pytest.ExitCode.OK
        self.failed = self.must_compute and self.tests_ran and passed and report().is_empty
        if self.failed:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the report."""
        terminalreporter.section("simulated MPS")
        for line in report().lines():
            terminalreporter.line(line)
        if self.failed:
            terminalreporter.line(f"error: {NO_OPERATORS}", red=True)
