"""End a long run politely: Ctrl-C and SIGTERM ask it to stop after the current step."""

import contextlib
import signal
from collections.abc import Iterator
from types import FrameType, TracebackType
from typing import Any, Self


# --8<-- [start:stop_signals]
class StopSignals:
    """While entered, the first SIGINT or SIGTERM only sets `received`; the second acts as it always does."""

    def __init__(self) -> None:
        self.received: signal.Signals | None = None
        self.previous: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Self:
        for number in (signal.SIGINT, signal.SIGTERM):
            self.previous[number] = signal.signal(number, self.note)
        return self

    def note(self, number: int, frame: FrameType | None) -> None:
        """Remember the signal. The training loop looks at `received` after every step."""
        self.received = signal.Signals(number)
        self.restore()

    def restore(self) -> None:
        """Put back the handlers that were there before."""
        while self.previous:
            signal.signal(*self.previous.popitem())

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.restore()


# --8<-- [end:stop_signals]
@contextlib.contextmanager
def terminate_like_ctrl_c() -> Iterator[None]:
    """Let SIGTERM raise KeyboardInterrupt, as SIGINT does, while the context lasts."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
