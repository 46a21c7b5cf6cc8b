"""`pytest --simulated-mps`: the tests find the device "mps", and a report follows.

pytest loads this module in every environment that has the device. So it imports PyTorch, and what needs it,
only where the option is given.
"""

import os
import re
import sys
from collections.abc import Generator
from dataclasses import dataclass

import pytest

from simulated_mps.errors import SimulationError
from simulated_mps.gate import OPTIONS, Gate, add_options

MARK = (
    "xfail_on_mps(operator, until=None): on the MPS device, in PyTorch up to `until`, such as '2.14', "
    "the test must fail with an error that names the operator, such as 'linalg_eig', or has these words"
)


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
    add_options(group.addoption, "--simulated-mps-")


def pytest_configure(config: pytest.Config) -> None:
    """Enable the device before any test module is imported."""
    config.addinivalue_line("markers", MARK)
    if not config.getoption("simulated_mps"):
        for option in ("as-torch", "as-macos", "like-macos", *(f"simulated-mps-{name}" for name in OPTIONS)):
            if config.getoption(option.replace("-", "_")):
                raise pytest.UsageError(f"--{option} needs --simulated-mps")
        return
    from simulated_mps import enable, processes

    if config.getoption("like_macos"):
        os.environ[processes.LIKE_MACOS] = "1"
    if config.getoption("as_macos"):
        os.environ[processes.MACOS] = config.getoption("as_macos")
    try:
        gate = Gate(lambda name: config.getoption(f"simulated_mps_{name.replace('-', '_')}"), config.rootpath)
        enable(config.getoption("as_torch"))
    except SimulationError as error:
        raise pytest.UsageError(f"--simulated-mps: {error}") from None
    config.stash[GATE] = gate
    if not hasattr(config, "workerinput"):  # the processes of pytest-xdist leave their counts to this one
        config.pluginmanager.register(Outcome(gate, config.getoption("allow_no_operators")))


GATE = pytest.StashKey[Gate]()


class Outcome:
    """What the tests did on the device, in all processes; a run that did nothing there fails."""

    def __init__(self, gate: Gate, allow_no_operators: bool) -> None:
        self.gate = gate
        self.must_compute = not allow_no_operators
        self.tests_ran = False
        self.lines: list[str] = []
        self.errors: list[str] = []

    def pytest_runtest_logreport(self) -> None:
        """Note that a test ran, which none does with --collect-only."""
        self.tests_ran = True

    @pytest.hookimpl(trylast=True)  # when the processes of pytest-xdist have ended
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write the report, and fail a run that would pass with what it must not, or without the device."""
        from simulated_mps import report
        from simulated_mps.reports import NO_OPERATORS

        whole = report()
        annotations, notes, self.errors = self.gate.conclude(whole)
        self.lines = [*whole.lines(root=self.gate.root), *notes, *annotations]
        passed = session.exitstatus == pytest.ExitCode.OK
        if self.must_compute and self.tests_ran and passed and whole.is_empty:
            self.errors.append(NO_OPERATORS)
        if self.errors and passed:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the report."""
        terminalreporter.section("simulated MPS")
        for line in self.lines:
            terminalreporter.line(line)
        for error in self.errors:
            terminalreporter.line(f"error: {error}", red=True)


# ---- Tests that are known to fail on the device ------------------------------------------------------------


@dataclass(frozen=True)
class Expectation:
    """A mark `xfail_on_mps`."""

    operator: str
    until: str | None

    @classmethod
    def of(cls, mark: pytest.Mark) -> "Expectation":
        """Read a mark. Raises pytest.UsageError."""
        try:
            expectation = cls(*mark.args, **{"until": None, **mark.kwargs})
        except TypeError:
            raise pytest.UsageError(f"xfail_on_mps takes an operator, and until=, not {mark}") from None
        if expectation.until is not None and not re.fullmatch(r"\d+\.\d+", str(expectation.until)):
            raise pytest.UsageError(f"xfail_on_mps(until={expectation.until!r}): write a release as '2.14'")
        return expectation

    def holds_in(self, release: str) -> bool:
        """Return whether the error is expected in `release`."""
        return self.until is None or numbers(release) <= numbers(self.until)

    def fits(self, error: BaseException) -> bool:
        """Return whether an error names the operator, as a whole word."""
        return re.search(rf"(?<!\w){re.escape(self.operator)}(?!\w)", str(error)) is not None


def numbers(release: str) -> tuple[int, ...]:
    """Return the numbers of a release such as "2.14", which compare as releases do."""
    return tuple(int(number) for number in re.findall(r"\d+", release)[:2])


def expectations(item: pytest.Item) -> list[Expectation]:
    """Return what the marks of a test expect on the device. Raises pytest.UsageError."""
    return [Expectation.of(mark) for mark in item.iter_markers("xfail_on_mps")]


def release_of_device(config: pytest.Config) -> str | None:
    """Return the release whose MPS device the tests find, simulated or on a Mac; None where there is none."""
    if GATE in config.stash:
        from simulated_mps import device

        return device.release
    torch = sys.modules.get("torch")
    return torch.__version__ if torch is not None and torch.backends.mps.is_available() else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Look for marks that cannot be read."""
    for item in items:
        expectations(item)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Let a test fail as its mark or the baseline expects, and not pass where its mark expects an error."""
    report = yield
    marks = expectations(item)
    if call.excinfo is not None and report.failed:
        reason = reason_to_fail(item, marks, call.excinfo.value)
        if reason:
            report.outcome, report.wasxfail = "skipped", reason
    elif marks and report.when == "call" and report.passed:
        release = release_of_device(item.config)
        for mark in marks:
            if release and mark.holds_in(release):
                report.outcome = "failed"
                report.longrepr = (
                    f"[xfail_on_mps] the error of {mark.operator} did not come on the device of PyTorch "
                    f"{release}: lower `until`, or remove the mark"
                )
    return report


def reason_to_fail(item: pytest.Item, marks: list[Expectation], error: BaseException) -> str | None:
    """Return why a test was to fail with `error`, or None."""
    release = release_of_device(item.config)
    simulated = GATE in item.config.stash
    if release is None or not (marks or simulated):
        return None
    found = None
    if simulated:
        from simulated_mps import findings, gradients

        gradients.note_if_missing(error)
        found = findings.error_behind(error.__traceback__)
    for mark in marks:
        if mark.holds_in(release) and mark.fits(error):
            if found is not None:
                findings.expect(found)
            return f"on MPS: {mark.operator}"
    if found is not None and item.config.stash[GATE].knows(found):
        return f"on MPS, by the baseline: {found.what}"
    return None
