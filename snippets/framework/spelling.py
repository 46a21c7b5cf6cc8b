"""How options are written on a command line: as flags, or in another language that a program speaks."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple


class Spelling(NamedTuple):
    """How a program's options are typed."""

    words: Callable[[Mapping[str, Any]], list[str]]  # that set options, one word each
    resume: Callable[[str], list[str]]  # that continue the run in a folder
    message: Callable[[str], str]  # what an error says, which speaks of flags, in the program's language


def flag_words(settings: Mapping[str, Any]) -> list[str]:
    """Return `--flag=value` for each option, `--flag` for True, and nothing for False and None."""
    flags = {f"--{name.replace('_', '-')}": value for name, value in settings.items()}
    return [
        flag if value is True else f"{flag}={value}"
        for flag, value in flags.items()
        if value is not False and value is not None
    ]


FLAGS = Spelling(flag_words, resume=lambda folder: ["--resume", folder], message=str)
