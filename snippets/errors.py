"""Errors that end a program with one line: what is wrong, with the value, and what to do."""

import errno
import os
import signal
import sys
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any, NamedTuple

CANNOT_WRITE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}  # of the output, which has no name


class Option(NamedTuple):
    """An option in an error, by its shared name, with the value that it has or should get.

    What an error says of options depends on the program; paths and values beside them must stay as typed. So
    an error has parts: UsageError(Option("out", path), " is a file; name a folder").
    """

    name: str
    value: Any = None  # None: the option alone is meant

    def __str__(self) -> str:
        """Return the option as a flag, as it is typed in all programs but those with another `Spelling`."""
        flag = f"--{self.name.replace('_', '-')}"
        return flag if self.value is None else f"{flag} {self.value}"


class Explained(Exception):
    """An error in words. They come in parts, of which an `Option` is spelt by the program that prints it."""

    def __str__(self) -> str:
        """Return all of it, options as flags."""
        return "".join(map(str, self.args))


class UsageError(Explained):
    """A mistake in how the program was called: a flag, a folder, a device. Exit code 2."""

    exit_code = 2


class RunError(Explained):
    """A run that started well and then failed: NaN loss, out of memory. Exit code 1."""

    exit_code = 1


def discard_output() -> None:
    """Send what is still to be printed nowhere: Python flushes once more at its end, and would fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def one_line(text: str, most: int = 2000) -> str:
    """Return `text` as a line for a terminal: characters that steer it are spelt out, the middle is cut.

    Parts of it may come from files: a header can hold an escape sequence, a cell two megabytes.
    """
    if len(text) > most:
        text = f"{text[: most // 2]} […] {text[-most // 4 :]}"
    return printable(" ".join(text.split()))


def printable(text: str, kept: str = "") -> str:
    """Return `text` with characters that steer a terminal, or that no encoding has, spelt out, but `kept`."""
    return "".join(c if c.isprintable() or c in kept else c.encode("unicode_escape").decode() for c in text)


def tell(text: str) -> None:
    """Print lines in which there are names from a file, a folder or a command line."""
    print(printable(text, kept="\t\n"), flush=True)


def end_at_once(number: int, frame: FrameType | None) -> None:
    """End this process at Ctrl-C: there is nothing to save yet, and some packages catch every exception."""
    print("interrupted", file=sys.stderr, flush=True)
    os._exit(128 + number)


def imported() -> None:
    """Let Ctrl-C raise KeyboardInterrupt from now on, as always."""
    if signal.getsignal(signal.SIGINT) is end_at_once:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def exit_with_one_line(main: Callable[[Sequence[str] | None], int], argv: Sequence[str] | None = None) -> int:
    """Call `main(argv)` and return its exit code; print a `UsageError` or `RunError` as one line.

    A file that cannot be read or written gets a line, too. Every other exception keeps its traceback: it is a
    defect of the program, not of its user.
    """
    imported()
    try:
        code = main(argv)
        sys.stdout.flush()
        return code
    except (UsageError, RunError) as error:
        print("error:", one_line(str(error)), file=sys.stderr)
        return error.exit_code
    except BrokenPipeError:  # a reader such as `head` has gone
        discard_output()
        return 128 + signal.SIGPIPE
    except OSError as error:
        if error.filename is not None:
            print("error:", one_line(f"{error.filename}: {error.strerror}"), file=sys.stderr)
        elif error.errno in CANNOT_WRITE:
            print(f"error: cannot write the output: {error.strerror}", file=sys.stderr)
            discard_output()
        else:
            raise
        return RunError.exit_code
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 128 + signal.SIGINT
