"""Errors that end a program with one line: what is wrong, with the value, and what to do."""

import errno
import os
import signal
import sys
from collections.abc import Callable, Sequence

CANNOT_WRITE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}  # of the output, which has no name


class UsageError(Exception):
    """A mistake in how the program was called: a flag, a folder, a device. Exit code 2."""

    exit_code = 2


class RunError(Exception):
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


def printable(text: str) -> str:
    """Return `text` with characters that steer a terminal, or that no encoding has, spelt out."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def exit_with_one_line(main: Callable[[Sequence[str] | None], int], argv: Sequence[str] | None = None) -> int:
    """Call `main(argv)` and return its exit code; print a `UsageError` or `RunError` as one line.

    A file that cannot be read or written gets a line, too. Every other exception keeps its traceback: it is a
    defect of the program, not of its user.
    """
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
