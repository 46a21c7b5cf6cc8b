"""Stop a long run after the current step on Ctrl-C or SIGTERM."""

import contextlib
import signal
from collections.abc import Iterator
from types import FrameType, TracebackType
from typing import Any, Self


# --8<-- [start:stop_signals]
class StopSignals:
    """While entered, the first SIGINT or SIGTERM only sets `received`; the second has its usual effect."""

    def __init__(self) -> None:
        self.received: signal.Signals | None = None
        self.previous: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Self:
        for number in (signal.SIGINT, signal.SIGTERM):
            self.previous[number] = signal.signal(number, self.note)
        return self

    def note(self, number: int, frame: FrameType | None) -> None:
        """Store the signal; the training loop reads `received` after every step."""
        self.received = signal.Signals(number)
        self.restore()

    def restore(self) -> None:
        """Restore the earlier signal handlers."""
        while self.previous:
            signal.signal(*self.previous.popitem())

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.restore()


# --8<-- [end:stop_signals]
@contextlib.contextmanager
def terminate_like_ctrl_c() -> Iterator[None]:
    """Inside the block, make SIGTERM raise KeyboardInterrupt as SIGINT does."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
