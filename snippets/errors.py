"""Errors that end a program with one line, which names what is wrong, the value and the remedy."""

import errno
import os
import signal
import sys
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any, NamedTuple

CANNOT_WRITE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}  # when printing, which has no file name


class Option(NamedTuple):
    """An option in an error message, by its shared name, with the value that it has or should have.

    Programs spell options differently, but paths and values must stay as typed. So an error has parts:
    UsageError(Option("out", path), " is a file; name a folder").
    """

    name: str
    value: Any = None  # None: the option without a value

    def __str__(self) -> str:
        """Return the option as a flag, which is the spelling of all programs without their own `Spelling`."""
        flag = f"--{self.name.replace('_', '-')}"
        return flag if self.value is None else f"{flag} {self.value}"


class Explained(Exception):
    """An error message in parts; the program that prints it spells each part that is an `Option`."""

    exit_code: int

    def __str__(self) -> str:
        """Return the whole message, with options as flags."""
        return "".join(map(str, self.args))


class UsageError(Explained):
    """A mistake in how the program was called: a flag, a folder, a device. Exit code 2."""

    exit_code = 2


class RunError(Explained):
    """A failure during a run, such as a NaN loss or too little memory. Exit code 1."""

    exit_code = 1


def discard_output() -> None:
    """Redirect standard output to nowhere, because Python flushes it again at exit and would fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def one_line(text: str, most: int = 2000) -> str:
    """Return `text` as one line of about `most` characters: control characters escaped, the middle cut.

    Parts of it may come from files, where a header can hold an escape sequence and a cell two megabytes.
    """
    if len(text) > most:
        text = f"{text[: most // 2]} […] {text[-most // 4 :]}"
    return printable(" ".join(text.split()))


def printable(text: str, kept: str = "") -> str:
    """Return `text` with unprintable characters escaped, except those in `kept`."""
    return "".join(c if c.isprintable() or c in kept else c.encode("unicode_escape").decode() for c in text)


def tell(text: str) -> None:
    """Print lines that may contain names from files, folders or the command line."""
    print(printable(text, kept="\t\n"), flush=True)


def end_at_once(number: int, frame: FrameType | None) -> None:
    """End this process on Ctrl-C during imports: some packages catch every exception."""
    print("interrupted", file=sys.stderr, flush=True)
    os._exit(128 + number)


def imported() -> None:
    """Restore Python's handler of Ctrl-C, which raises KeyboardInterrupt, after the imports."""
    if signal.getsignal(signal.SIGINT) is end_at_once:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def exit_with_one_line(main: Callable[[Sequence[str] | None], int], argv: Sequence[str] | None = None) -> int:
    """Call `main(argv)` and return its exit code; print a `UsageError` or `RunError` as one line.

    A file that cannot be read or written is also reported in one line. Every other exception is a defect of
    the program and keeps its traceback.
    """
    imported()
    try:
        code = main(argv)
        sys.stdout.flush()
        return code
    except (UsageError, RunError) as error:
        print("error:", one_line(str(error)), file=sys.stderr)
        return error.exit_code
    except BrokenPipeError:  # a reader such as `head` has exited
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
