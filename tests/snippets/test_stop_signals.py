"""The first signal asks, the second one acts."""

import signal

import pytest

from snippets.stop_signals import StopSignals


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_signal_is_only_noted(number):
    before = signal.getsignal(number)
    with StopSignals() as stop:
        assert stop.received is None
        signal.raise_signal(number)
        assert stop.received is number
        assert signal.getsignal(number) is before  # the next one acts as usual
    assert signal.getsignal(number) is before


@pytest.fixture
def interruptible():
    """Let SIGINT raise KeyboardInterrupt, which it does not in a job that was started in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_a_second_ctrl_c_interrupts():
    with StopSignals() as stop, pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
        assert stop.received is signal.SIGINT
        signal.raise_signal(signal.SIGINT)


def test_handlers_come_back_when_no_signal_came():
    before = signal.getsignal(signal.SIGTERM)
    with StopSignals():
        assert signal.getsignal(signal.SIGTERM) is not before
    assert signal.getsignal(signal.SIGTERM) is before
