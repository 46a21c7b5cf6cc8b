"""Redraw a terminal without flicker, and restore it at the end."""

import contextlib
import os
import select
import shutil
import signal
import sys
from collections.abc import Sequence
from types import FrameType
from typing import Any, Self, TextIO

OTHER_SCREEN, MAIN_SCREEN = "\x1b[?1049h", "\x1b[?1049l"
HIDE_CURSOR, SHOW_CURSOR = "\x1b[?25l", "\x1b[?25h"
HOME, CLEAR_TO_END_OF_LINE, CLEAR_BELOW = "\x1b[H", "\x1b[K", "\x1b[J"
WIDEST, HIGHEST = 1000, 500  # the largest size that COLUMNS and LINES may set
DRAWN = "█▏·…⣿"  # if the encoding has these, it has all characters of the view


def size_of(out: TextIO) -> tuple[int, int]:
    """Return columns and lines of the terminal, else COLUMNS and LINES, else 80 and 24."""
    try:
        columns, lines = os.get_terminal_size(out.fileno())
    except OSError:
        columns, lines = 0, 0
    usual = shutil.get_terminal_size()
    return min(columns or usual.columns, WIDEST), min(lines or usual.lines, HIGHEST)


def can_draw(out: TextIO) -> bool:
    """Return whether the encoding of `out` has bars and Braille patterns."""
    try:
        DRAWN.encode(out.encoding or "ascii")
    except UnicodeEncodeError:
        return False
    return True


def wants_colour(out: TextIO) -> bool:
    """Return whether `out` is a terminal with colours and NO_COLOR is not set (https://no-color.org)."""
    return out.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


class Screen:
    """The alternate screen of a terminal while entered; the earlier content returns afterwards."""

    def __init__(self, out: TextIO) -> None:
        self.out = out
        self.previous: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Self:
        self.bell, self.rope = os.pipe()  # a resize writes to it, so that `wait` ends early
        os.set_blocking(self.rope, False)
        handlers = {signal.SIGWINCH: self.ring, signal.SIGTERM: self.leave, signal.SIGTSTP: self.pause}
        for number, handler in handlers.items():
            self.previous[number] = signal.signal(number, handler)
        self.write(OTHER_SCREEN + HIDE_CURSOR)
        return self

    def __exit__(self, *_: object) -> None:
        self.write(SHOW_CURSOR + MAIN_SCREEN)
        for number, handler in self.previous.items():
            signal.signal(number, handler)
        os.close(self.bell)
        os.close(self.rope)

    def write(self, text: str) -> None:
        """Send `text` to the terminal at once."""
        self.out.write(text)
        self.out.flush()

    def show(self, lines: Sequence[str]) -> None:
        """Replace the content. It is overwritten, not cleared, so it does not flicker."""
        shown = f"{CLEAR_TO_END_OF_LINE}\r\n".join(lines)
        self.write(HOME + shown + CLEAR_TO_END_OF_LINE + CLEAR_BELOW)

    def wait(self, seconds: float) -> None:
        """Wait for some seconds, or until the size changes."""
        if select.select([self.bell], [], [], seconds)[0]:
            os.read(self.bell, 1024)

    def ring(self, number: int, frame: FrameType | None) -> None:
        """Let `wait` end."""
        with contextlib.suppress(BlockingIOError):  # the pipe is full, so `wait` ends anyway
            os.write(self.rope, b"!")

    def leave(self, number: int, frame: FrameType | None) -> None:
        """End the program in an orderly way."""
        sys.exit(128 + number)

    def pause(self, number: int, frame: FrameType | None) -> None:
        """Restore the terminal while the program is stopped by Ctrl-Z."""
        self.write(SHOW_CURSOR + MAIN_SCREEN)
        signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTSTP)  # returns when the program continues
        signal.signal(signal.SIGTSTP, self.pause)
        self.write(OTHER_SCREEN + HIDE_CURSOR)
        self.ring(number, frame)
