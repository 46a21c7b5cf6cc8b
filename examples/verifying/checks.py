"""The checks of examples/verify_mac.py, within some seconds, and continued where they were stopped."""

import contextlib
import signal
from collections.abc import Iterator
from types import FrameType
from typing import Any

from examples import verify_mac


class OutOfTime(Exception):
    """The seconds of the checks are over."""


@contextlib.contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Inside the block, raise OutOfTime after some seconds."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise OutOfTime

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def restored(device: str, stored: dict[str, Any] | None) -> verify_mac.Run:
    """Return the run of the checks as it was stored, or one without any."""
    run = verify_mac.Run(device, None)
    run.learn(verify_mac.torch_facts())
    if stored is not None:
        run.results, run.complete = stored["results"], stored["complete"]
    return run


def go_on(run: verify_mac.Run, seconds: float) -> None:
    """Run the checks that are left, as far as the seconds reach."""
    with contextlib.suppress(OutOfTime), at_most(max(seconds, 0.01)):
        run.go()
