"""Strict command lines: no abbreviations, errors that list valid values, paths with `~`."""

import argparse
import math
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from snippets.errors import Option, UsageError


class StrictParser(argparse.ArgumentParser):
    """An ArgumentParser that raises UsageError instead of printing its usage and exiting.

    `former` maps names of flags in other projects to ours, for the error message.
    """

    def __init__(self, *, former: Mapping[str, str] | None = None, **options: Any) -> None:
        super().__init__(allow_abbrev=False, **options)
        self.former = former or {}

    def error(self, message: str) -> NoReturn:
        """Raise UsageError with argparse's message, which names the flag and the valid values."""
        raise UsageError(message.removeprefix("argument "))

    def parse_known_args(
        self, args: Iterable[str] | None = None, namespace: Any = None
    ) -> tuple[Any, list[str]]:
        """Return options and unknown words. Raises UsageError.

        It rejects two forms itself: argparse takes `--flag=--` for a list, and calls `--quick=1` ignored.
        """
        words = list(sys.argv[1:] if args is None else args)
        for flag, sign, value in (word.partition("=") for word in words):
            known = self._option_string_actions.get(flag)
            if sign and known and known.nargs == 0:
                raise UsageError(f"{flag} takes no value, not {value!r}")
            if known and value == "--":
                raise UsageError(f"{flag}: expected one argument")
        return super().parse_known_args(words, namespace)

    def parse_args(self, args: Iterable[str] | None = None, namespace: Any = None) -> Any:
        """Return the options. Raises UsageError for an unknown flag, which lists the known ones."""
        options, unknown = self.parse_known_args(args, namespace)
        if unknown:
            named = unknown[0].partition("=")[0]
            if named in self.former:
                raise UsageError(f"unknown option {named!r}: here it is {self.former[named]}")
            flags = [flag for action in self._actions for flag in action.option_strings if flag[:2] == "--"]
            raise UsageError(f"unknown option {unknown[0]!r}; options: {' '.join(flags)}")
        return options


def first_line(docstring: str | None) -> str:
    """Return the first line of a program's docstring, which `python -OO` removes."""
    return (docstring or "").partition("\n")[0]


def whole_number(low: int, high: int) -> Callable[[str], int]:
    """Return a parser of whole numbers from `low` to `high`, for the `type` of an option."""

    def read(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = low - 1
        if not low <= value <= high:
            raise argparse.ArgumentTypeError(f"must be a whole number from {low} to {high}, not {text!r}")
        return value

    return read


def number(low: float, high: float, *, above: bool = False, below: bool = False) -> Callable[[str], float]:
    """Return a parser of numbers from `low` to `high`; `above` and `below` exclude the limit itself."""

    def read(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        inside = (low < value if above else low <= value) and (value < high if below else value <= high)
        if not inside:  # NaN is never inside
            words = f"{'above' if above else 'from'} {low:g} {'and below' if below else 'to'} {high:g}"
            raise argparse.ArgumentTypeError(f"must be a number {words}, not {text!r}")
        return value

    return read


def expanded(typed: str | Path) -> Path:
    """Return the path with `~` or `~name` replaced by a home folder.

    Raises UsageError for an unknown user, and for an empty path, which Python takes for the current folder.
    """
    if not str(typed) or "\0" in str(typed):
        raise UsageError(
            f"{str(typed)!r} is no path; write the name of a file or folder, or . for this folder"
        )
    try:
        return Path(typed).expanduser()
    except RuntimeError:
        raise UsageError(
            f"{typed}: there is no user {Path(typed).parts[0][1:]}; write the whole path"
        ) from None


class Spelling(NamedTuple):
    """How the options of a program are spelled."""

    words: Callable[[Mapping[str, Any]], list[str]]  # the words that set options
    resume: Callable[[str], list[str]]  # the words that continue the run in a folder
    option: Callable[[Option], str]  # the form in error messages


def flag_words(settings: Mapping[str, Any]) -> list[str]:
    """Return `--flag=value` for each option, `--flag` for True, and nothing for False and None."""
    flags = {str(Option(name)): value for name, value in settings.items()}
    return [
        flag if value is True else f"{flag}={value}"
        for flag, value in flags.items()
        if value is not False and value is not None
    ]


FLAGS = Spelling(flag_words, resume=lambda folder: ["--resume", folder], option=str)
